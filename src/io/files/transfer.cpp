#include "io/files/transfer.hpp"

#include <vector>

#include "io/hdf5/hdf5_error.hpp"

namespace warpfold::io {
namespace {

/// Selects `part` in `file_space` and returns a packed memory space of the same shape: HDF5 moves
/// equal shapes as rows, unequal ones element by element.
SpaceHandle select(hid_t file_space, const Selection& part, const std::string& problem) {
  std::vector<hsize_t> start;
  std::vector<hsize_t> step;
  std::vector<hsize_t> count;
  for (const Slice& slice : part) {
    start.push_back(slice.start);
    step.push_back(slice.step);
    count.push_back(slice.count);
  }
  require(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), step.data(), count.data(),
                              nullptr),
          problem);
  return SpaceHandle(
      require(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), problem));
}

}  // namespace

void read_elements(hid_t dataset, hid_t memory_type, const Selection& part,
                   std::span<std::byte> out, const std::string& problem) {
  const auto read = [&](hid_t memory_space, hid_t file_space) {
    require(H5Dread(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, out.data()),
            problem);
  };
  if (part.empty()) return read(H5S_ALL, H5S_ALL);
  const SpaceHandle file_space(require(H5Dget_space(dataset), problem));
  const SpaceHandle memory_space = select(file_space.get(), part, problem);
  read(memory_space.get(), file_space.get());
}

}  // namespace warpfold::io
