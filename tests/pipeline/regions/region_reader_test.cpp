#include "pipeline/regions/region_reader.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "core/layout/random_grids.hpp"
#include "cpu/chunks/chunk_assembly.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::pipeline {
namespace {

using testing::Extents;

class RegionReaderTest : public io::Hdf5Test {
 protected:
  /// Dataset "x" of numbered elements: contiguous, in chunks, or in compressed chunks.
  std::vector<std::int32_t> write(const testing::ChunkedShape& made, std::uint64_t storage) {
    std::vector<hsize_t> chunk;
    // HDF5 wants no chunks beyond a dataset that can't grow.
    for (std::size_t d = 0; d < made.shape.size(); ++d)
      chunk.push_back(std::min(made.chunk_shape[d], made.shape[d]));
    const io::PropertiesHandle creation = io::dataset_creation();
    if (storage > 0) H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
    if (storage > 1) {
      H5Pset_shuffle(creation.get());
      H5Pset_deflate(creation.get(), 1);
    }
    const io::FileHandle file = create_file("x.h5");
    const io::DatasetHandle dataset = io::create_dataset(
        file.get(), "x", H5T_STD_I32LE, {made.shape.begin(), made.shape.end()}, creation.get());
    const std::vector<std::int32_t> values = io::numbered(made.elements());
    io::write_all(dataset.get(), H5T_NATIVE_INT32, values);
    return values;
  }

  StageRegistry registry_;
};

Extents random_extents(const Extents& shape, std::mt19937_64& random) {
  Extents extents;
  for (const std::uint64_t extent : shape) extents.push_back(1 + random() % extent);
  return extents;
}

/// One of the boxes into which a shape is taken apart.
Hyperslab random_box(const Extents& shape, const Extents& extents, std::mt19937_64& random) {
  Hyperslab box;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    box.start.push_back(random() % ceil_div(shape[d], extents[d]) * extents[d]);
    box.count.push_back(std::min(extents[d], shape[d] - box.start[d]));
  }
  return box;
}

/// Strides that pack a box, any dimension the innermost.
Extents random_strides(const Hyperslab& box, std::mt19937_64& random) {
  std::vector<std::size_t> order(box.count.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  Extents stride(order.size());
  std::uint64_t next = 1;
  for (const std::size_t d : order) {
    stride[d] = next;
    next *= box.count[d];
  }
  return stride;
}

TEST_F(RegionReaderTest, BoxesGoWhereTheirStridesSay) {
  std::mt19937_64 random(12);
  for (std::uint64_t i = 0; i < 45; ++i) {
    const testing::ChunkedShape made = testing::random_shape(random);
    const std::vector<std::int32_t> values = write(made, i % 3);
    Selection selection = testing::random_selection(made.shape, random);
    for (Slice& slice : selection) slice.dropped = slice.count == 1 && random() % 2 == 0;
    const auto indices = testing::selected_indices(made.shape, selection);
    io::Dataset dataset(path("x.h5"), "x", i % 5 == 0 ? ReadPath::library : ReadPath::automatic);
    dataset.select(selection);
    const Extents& shape = dataset.info().shape;
    RegionSource source(dataset, registry_);
    RegionReader reader(source);
    for (int each = 0; each < 5; ++each) {
      const Extents extents = random_extents(shape, random);
      const Hyperslab box = random_box(shape, extents, random);
      const Extents stride = random_strides(box, random);
      cpu::PageBuffer staging(source.bytes_of_box(extents));
      const StagedChunks staged = reader.read(box, stride, staging.span());
      ASSERT_EQ(staged.target.elements, box.elements());
      std::vector<std::int32_t> placed(box.elements(), -1);
      cpu::assemble(cpu::choose_kernels(), sizeof(std::int32_t), staged, staging.span().data(),
                    reinterpret_cast<std::byte*>(placed.data()));
      for (std::uint64_t element = 0; element < box.elements(); ++element) {
        const Extents at = testing::coordinates_of(element, box.count);
        std::uint64_t place = 0;
        std::uint64_t index = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          place += at[d] * stride[d];
          index = index * shape[d] + box.start[d] + at[d];
        }
        ASSERT_EQ(placed[place], values[indices[index]]);
      }
    }
  }
}

TEST_F(RegionReaderTest, FlatRangesComeAsRuns) {
  const std::vector<std::int32_t> values = write({{30, 20}, {30, 20}}, 0);
  for (const FileCache cache : {FileCache::through, FileCache::past}) {
    io::Dataset dataset(path("x.h5"), "x");
    dataset.choose_cache(cache);
    RegionSource source(dataset, registry_);
    EXPECT_EQ(source.grid(), nullptr);
    EXPECT_EQ(source.staging(), dataset.may_read_past_cache() ? Staging::run : Staging::packed);
    RegionReader reader(source);
    for (const ElementRange range : {ElementRange{0, 600}, ElementRange{37, 100}}) {
      cpu::PageBuffer staging(source.bytes_of_range(range.count));
      const std::optional<StagedRun> run = run_of(reader.read(range, 11, staging.span()));
      ASSERT_TRUE(run);
      EXPECT_EQ(run->place, 11u);
      ASSERT_EQ(run->elements, range.count);
      if (source.staging() == Staging::packed) {
        EXPECT_EQ(run->source, 0u);
      }
      const auto* read = reinterpret_cast<const std::int32_t*>(staging.span().data() + run->source);
      for (std::uint64_t i = 0; i < range.count; ++i) ASSERT_EQ(read[i], values[range.first + i]);
    }
  }
}

TEST_F(RegionReaderTest, RunsOfChunksComeForTheirTarget) {
  const std::vector<std::int32_t> values = write({{40, 30}, {10, 5}}, 2);
  io::Dataset dataset(path("x.h5"), "x");
  RegionSource source(dataset, registry_, ChunkRun{4, 7});
  ASSERT_NE(source.grid(), nullptr);
  EXPECT_EQ(source.staging(), Staging::chunks);
  RegionReader reader(source);
  const ChunkRun run{6, 3};
  cpu::PageBuffer staging(source.bytes_of_chunks(run.count));
  const StagedChunks staged = reader.read(run, box_target(*source.grid(), run),
                                          box_indices(*source.grid(), run), staging.span());
  const BoxIndices indices = box_indices(*source.grid(), run);
  std::vector<std::int32_t> placed(staged.target.elements, -1);
  cpu::assemble(cpu::choose_kernels(), sizeof(std::int32_t), staged, staging.span().data(),
                reinterpret_cast<std::byte*>(placed.data()));
  ASSERT_EQ(placed.size(), 150u);
  for (std::uint64_t place = 0; place < placed.size(); ++place)
    EXPECT_EQ(placed[place], values[indices(place)]);
}

}  // namespace
}  // namespace warpfold::pipeline
