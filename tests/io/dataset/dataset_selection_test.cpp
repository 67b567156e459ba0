#include <random>

#include "core/layout/random_grids.hpp"
#include "io/dataset/dataset.hpp"
#include "io/files/byte_runs.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

using testing::Extents;

class SelectionTest : public Hdf5Test {
 protected:
  /// A contiguous dataset "x" of numbered elements.
  std::vector<std::int32_t> write(const Extents& shape) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : shape) elements *= extent;
    const std::vector<std::int32_t> values = numbered(elements);
    const FileHandle file = create_file("x.h5");
    const DatasetHandle dataset =
        create_dataset(file.get(), "x", H5T_STD_I32LE, {shape.begin(), shape.end()});
    write_all(dataset.get(), H5T_NATIVE_INT32, values);
    return values;
  }
};

template <class T>
std::span<std::byte> writable(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

TEST_F(SelectionTest, RangesAndBoxesAreThoseOfTheSelectedElements) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 60; ++i) {
    const Extents shape = testing::random_shape(random).shape;
    const std::vector<std::int32_t> values = write(shape);
    const Selection selection = testing::random_selection(shape, random);
    const std::vector<std::uint64_t> indices = testing::selected_indices(shape, selection);
    for (const ReadPath read_path : {ReadPath::direct, ReadPath::library}) {
      Dataset dataset(path("x.h5"), "x", read_path);
      dataset.select(selection);
      ASSERT_EQ(dataset.info().elements, indices.size());
      const std::uint64_t first = random() % indices.size();
      const ElementRange range{first, 1 + random() % (indices.size() - first)};
      std::vector<std::int32_t> found(range.count);
      dataset.read(range, writable(found));
      for (std::uint64_t each = 0; each < range.count; ++each)
        ASSERT_EQ(found[each], values[indices[range.first + each]]);

      Hyperslab box;
      Selection of_box;
      for (const std::uint64_t extent : dataset.info().shape) {
        box.start.push_back(random() % extent);
        box.count.push_back(1 + random() % (extent - box.start.back()));
        of_box.push_back({box.start.back(), box.count.back()});
      }
      found.assign(box.elements(), -1);
      dataset.fetch(box, writable(found));
      const auto within = testing::selected_indices(dataset.info().shape, of_box);
      for (std::uint64_t each = 0; each < found.size(); ++each)
        ASSERT_EQ(found[each], values[indices[within[each]]]);
    }
  }
}

TEST_F(SelectionTest, ASingleIndexLeavesOutItsDimension) {
  const std::vector<std::int32_t> values = write({4, 5, 6});
  Dataset dataset(path("x.h5"), "x");
  dataset.select({{1, 2}, {3, 1, 1, true}, {0, 3, 2}});
  EXPECT_EQ(dataset.info().shape, (Extents{2, 3}));
  EXPECT_EQ(dataset.info().stored_shape, (Extents{4, 5, 6}));
  std::vector<std::int32_t> found(2);
  dataset.fetch(Hyperslab{{1, 1}, {1, 2}}, writable(found));
  EXPECT_EQ(found, (std::vector{values[2 * 30 + 3 * 6 + 2], values[2 * 30 + 3 * 6 + 4]}));
}

TEST_F(SelectionTest, ABoxBeyondTheShapeIsRefused) {
  write({4, 5});
  Dataset dataset(path("x.h5"), "x");
  std::vector<std::int32_t> found(5);
  EXPECT_TRUE(contains(error_of([&] {
                         dataset.fetch(Hyperslab{{4, 0}, {1, 5}}, writable(found));
                       }).why(),
                       "beyond"));
  EXPECT_TRUE(contains(error_of([&] {
                         dataset.fetch(Hyperslab{{0}, {5}}, writable(found));
                       }).why(),
                       "box"));
}

/// The windows of a part of an array of bytes: their bytes, and the runs in each.
std::vector<std::pair<FileBytes, std::uint64_t>> windows_of(const Extents& shape,
                                                            const Selection& part,
                                                            std::uint64_t max_bytes) {
  std::vector<std::pair<FileBytes, std::uint64_t>> windows;
  RunWindows(PartLayout(1000, shape, 1, part), max_bytes)
      .for_each([&](FileBytes window, std::span<const ByteRuns> lines) {
        std::uint64_t runs = 0;
        for (const ByteRuns& line : lines) runs += line.count;
        windows.emplace_back(window, runs);
      });
  return windows;
}

using Windows = std::vector<std::pair<FileBytes, std::uint64_t>>;

TEST(RunWindows, ReadNearRunsAtOnceAndLeaveLargeGapsOut) {
  EXPECT_EQ(windows_of({10, 10}, {{2, 3}, {0, 10}}, 100), (Windows{{{1020, 30}, 1}}));
  EXPECT_EQ(windows_of({10, 10}, {{2, 3}, {5, 2}}, 100), (Windows{{{1025, 22}, 3}}));
  EXPECT_EQ(windows_of({10, 10}, {{2, 3}, {5, 2}}, 15), (Windows{{{1025, 12}, 2}, {{1045, 2}, 1}}));
  EXPECT_EQ(windows_of({10, 10}, {{0, 10}, {0, 5, 2}}, 50),
            (Windows{{{1000, 49}, 25}, {{1050, 49}, 25}}));
  EXPECT_EQ(windows_of({2, 100000}, {{0, 2}, {7, 3}}, 1 << 20),
            (Windows{{{1007, 3}, 1}, {{101007, 3}, 1}}));
}

TEST(RunWindows, LongRunsAreReadAlone) {
  EXPECT_EQ(windows_of({2, 100000}, {{0, 2}, {0, 99999}}, 1 << 20),
            (Windows{{{1000, 99999}, 1}, {{101000, 99999}, 1}}));
}

}  // namespace
}  // namespace warpfold::io
