#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Returns the checksum of HDF5's filter: Fletcher's sums, modulo 65535, of 16-bit words in
/// big-endian order, the second sum in the upper half. An odd last byte is a word's upper one.
std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// Bytes of the checksum that the filter puts behind a chunk, in little-endian order.
inline constexpr std::size_t fletcher32_bytes = 4;

/// Compares with the checksum behind the bytes. Takes also those of HDF5 1.6.2 and before, whose
/// halves have their bytes exchanged on little-endian machines.
std::unique_ptr<FilterStep> make_fletcher32_step();

}  // namespace warpfold::io
