#include "io/chunks/chunk_lookup.hpp"

#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

TEST(ListedChunk, HasAtLeastOneByteAndFewerThan4GiB) {
  EXPECT_EQ(listed_chunk(4096, 1, 2), (StoredChunk{4096, 1, 2}));
  EXPECT_EQ(listed_chunk(0, 0xFFFFFFFF, 0), (StoredChunk{0, 0xFFFFFFFF, 0}));
  EXPECT_EQ(listed_chunk(4096, 0, 2), std::nullopt);
  EXPECT_EQ(listed_chunk(4096, std::uint64_t{1} << 32, 0), std::nullopt);
}

TEST(ListedChunk, AnImpossibleSizeIsReportedWithTheChunk) {
  DatasetInfo info;
  info.shape = info.stored_shape = {10, 10};
  info.chunk_shape = {4, 5};
  const ChunkCoordinates coordinates(info);
  const Error error = error_of([&] { throw_impossible_size(coordinates, 3, 0, "cannot read"); });
  EXPECT_EQ(error.problem(), "cannot read");
  EXPECT_EQ(error.why(), "chunk [1, 1] has 0 bytes by the file's index");
}

}  // namespace
}  // namespace warpfold::io
