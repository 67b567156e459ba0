#pragma once

#include <cstddef>
#include <memory>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

enum class BitshuffleCompressor : unsigned { none = 0, lz4 = 2, zstd = 3 };

struct BitshuffleParameters {
  std::size_t element_bytes = 1;
  std::size_t block_elements = 1024;
  BitshuffleCompressor compressor = BitshuffleCompressor::none;
};

/// Returns a filter's parameters as they are, blocks of its own choice where it has no number.
BitshuffleParameters bitshuffle_parameters(const Filter& filter);

/// Undoes HDF5 filter 32008, of elements of 1 byte or more: blocks of a multiple of 8 of them,
/// whose first bits come first, then their second bits, ..., least significant first; up to 7
/// elements at the end as they are. Without `blocks` that is all. With them, as the filter's lz4
/// filter: the chunk's bytes in 64 bits, a block's in 32, big-endian; then each block's stored
/// bytes in 32 bits, and the block compressed after its bits were shuffled.
std::unique_ptr<FilterStep> make_bitshuffle_step(BitshuffleParameters parameters,
                                                 std::unique_ptr<BlockDecoder> blocks);

}  // namespace warpfold::io
