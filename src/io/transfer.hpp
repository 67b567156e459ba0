#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/hdf5_handle.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::io {

/// A dataset as the target of transfers; the identifiers are borrowed.
struct TransferTarget {
  hid_t dataset = H5I_INVALID_HID;
  hid_t memory_type = H5I_INVALID_HID;
  std::size_t element_bytes = 0;
  std::span<const std::uint64_t> shape;
};

/// Read or write the row-major `range` through the HDF5 library in transfers of at most 1 GiB. The
/// buffer is packed. Throw Error beginning with `problem`. Call within a LibraryScope.
void read_elements(const TransferTarget& source, ElementRange range, std::span<std::byte> out,
                   const std::string& problem);
void write_elements(const TransferTarget& target, ElementRange range,
                    std::span<const std::byte> bytes, const std::string& problem);

}  // namespace warpfold::io
