#include "io/filters/compressed_form.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "io/filters/bitshuffle.hpp"

namespace warpfold::io {
namespace {

/// The least of a block of LZ4, so that what describes blocks is little beside them.
constexpr std::uint64_t min_block_bytes = 512;

/// The filter's parameter is the bytes of a block, if it is there and not 0.
std::uint64_t lz4_block_bytes(const Filter& filter, std::uint64_t chunk_bytes) {
  constexpr std::uint64_t filters_choice = std::uint64_t{1} << 30;
  const std::uint64_t asked = parameter(filter, 0);
  return std::clamp<std::uint64_t>(asked != 0 ? asked : filters_choice, 1, chunk_bytes);
}

}  // namespace

std::optional<CompressedForm> compressed_form(const Filter& filter, std::size_t element_bytes,
                                              std::uint64_t chunk_bytes) {
  CompressedForm form{Compression::zlib, chunk_bytes, 1, element_bytes};
  if (filter.id == filter_id::deflate) return form;
  if (filter.id == filter_id::lz4) {
    const std::uint64_t block_bytes = lz4_block_bytes(filter, chunk_bytes);
    form.compression = Compression::lz4;
    form.chunk_blocks = ceil_div(chunk_bytes, block_bytes);
    if (form.chunk_blocks == 1 || block_bytes >= min_block_bytes) return form;
  }
  if (filter.id == filter_id::bitshuffle) {
    const BitshuffleParameters parameters = bitshuffle_parameters(filter);
    const std::uint64_t block_bytes = parameters.block_elements * element_bytes;
    form.compression = Compression::bitshuffled_lz4;
    form.chunk_blocks = ceil_div(chunk_bytes, std::max<std::uint64_t>(block_bytes, 1)) + 1;
    if (parameters.compressor == BitshuffleCompressor::lz4 &&
        parameters.element_bytes == element_bytes && block_bytes <= max_bit_plane_bytes &&
        block_bytes >= min_block_bytes)
      return form;
  }
  return std::nullopt;
}

}  // namespace warpfold::io
