#include "io/transfer.hpp"

#include <algorithm>
#include <vector>

#include "io/hdf5_error.hpp"
#include "io/hyperslab.hpp"
#include "io/posix_file.hpp"

namespace warpfold::io {
namespace {

std::vector<hsize_t> library_extents(const std::vector<std::uint64_t>& extents) {
  return {extents.begin(), extents.end()};
}

/// Selects `slab` in `file_space` and returns a packed memory space of the same shape: HDF5 moves
/// equal shapes as rows, unequal ones element by element.
SpaceHandle select(hid_t file_space, const Hyperslab& slab, const std::string& problem) {
  const std::vector<hsize_t> start = library_extents(slab.start);
  const std::vector<hsize_t> count = library_extents(slab.count);
  require(
      H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
      problem);
  return SpaceHandle(
      require(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), problem));
}

/// Calls `move(memory_space, file_space, byte_offset)` for every hyperslab of `range`.
template <class Move>
void for_each_transfer(const TransferTarget& target, ElementRange range, const std::string& problem,
                       Move move) {
  if (range.count == 0) return;
  if (target.shape.empty()) {
    move(H5S_ALL, H5S_ALL, std::uint64_t{0});
    return;
  }
  const SpaceHandle file_space(require(H5Dget_space(target.dataset), problem));
  const std::uint64_t most_elements = largest_transfer / target.element_bytes;
  std::uint64_t byte_offset = 0;
  for (std::uint64_t first = range.first; first < range.end(); first += most_elements) {
    const std::uint64_t count = std::min(most_elements, range.end() - first);
    for (const Hyperslab& slab : hyperslabs_of(target.shape, {first, count})) {
      const SpaceHandle memory_space = select(file_space.get(), slab, problem);
      move(memory_space.get(), file_space.get(), byte_offset);
      byte_offset += slab.elements() * target.element_bytes;
    }
  }
}

}  // namespace

void read_elements(const TransferTarget& source, ElementRange range, std::span<std::byte> out,
                   const std::string& problem) {
  for_each_transfer(source, range, problem,
                    [&](hid_t memory_space, hid_t file_space, std::uint64_t byte_offset) {
                      require(H5Dread(source.dataset, source.memory_type, memory_space, file_space,
                                      H5P_DEFAULT, out.data() + byte_offset),
                              problem);
                    });
}

void write_elements(const TransferTarget& target, ElementRange range,
                    std::span<const std::byte> bytes, const std::string& problem) {
  for_each_transfer(target, range, problem,
                    [&](hid_t memory_space, hid_t file_space, std::uint64_t byte_offset) {
                      require(H5Dwrite(target.dataset, target.memory_type, memory_space, file_space,
                                       H5P_DEFAULT, bytes.data() + byte_offset),
                              problem);
                    });
}

}  // namespace warpfold::io
