#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Inflates streams in the zlib format (RFC 1950), by libdeflate.
std::unique_ptr<FilterStep> make_inflate_step();

/// Makes such streams, of level 0 (stored) to 9 (smallest).
std::unique_ptr<Compressor> make_deflate_compressor(int level);

/// Apply and undo HDF5's shuffle filter: the first bytes of all elements, then the second bytes,
/// ...; bytes behind the last whole element stay where they are. `out` is as long as `bytes`.
void shuffle(std::span<const std::byte> bytes, std::size_t element_bytes, std::span<std::byte> out);
void unshuffle(std::span<const std::byte> bytes, std::size_t element_bytes,
               std::span<std::byte> out);

/// Undoes the shuffle filter; `element_bytes` is 1 or more.
std::unique_ptr<FilterStep> make_unshuffle_step(std::size_t element_bytes);

/// Returns the checksum of HDF5's filter: Fletcher's sums, modulo 65535, of 16-bit words in
/// big-endian order, the second sum in the upper half. An odd last byte is a word's upper one.
std::uint32_t fletcher32(std::span<const std::byte> bytes);

/// Bytes of the checksum that the filter puts behind a chunk, in little-endian order.
inline constexpr std::size_t fletcher32_bytes = 4;

/// Compares with the checksum behind the bytes. Takes also those of HDF5 1.6.2 and before, whose
/// halves have their bytes exchanged on little-endian machines.
std::unique_ptr<FilterStep> make_fletcher32_step();

/// Undoes HDF5's szip filter by libaec; none where this build has no libaec, and for parameters
/// that HDF5 does not choose. A chunk has its bytes in 4, little-endian, and then lines of samples,
/// each of whole blocks. Samples of 4 and 8 bytes were taken apart, as by the shuffle filter.
std::unique_ptr<FilterStep> make_szip_step(const Filter& filter);

/// Undoes HDF5's n-bit filter of numbers, which stores their significant bits, packed; none for
/// compounds and arrays. The other bits become 0.
std::unique_ptr<FilterStep> make_nbit_step(const Filter& filter);

/// Undoes HDF5's scale-offset filter of integers, or of floats scaled by a power of ten; none for
/// other parameters. A chunk has, little-endian: the bits of an integer in 4 bytes, the bytes of
/// the least element in 1, that element in 16; then for each element the integer that it exceeds
/// the least one by, packed, with all bits set for the fill value. Integers as wide as elements are
/// the elements.
std::unique_ptr<FilterStep> make_scale_offset_step(const Filter& filter);

}  // namespace warpfold::io
