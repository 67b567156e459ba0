#pragma once

#include <cstddef>
#include <memory>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

struct BitshuffleParameters {
  std::size_t element_bytes = 1;   ///< 1 or more
  std::size_t block_elements = 0;  ///< a multiple of 8; 0: the filter's own choice
};

/// Undoes HDF5 filter 32008: blocks of elements whose first bits come first, then their second
/// bits, ..., least significant first; up to 7 elements at the end as they are. Without `blocks`
/// that is all. With them, as the filter's lz4 filter: the chunk's bytes in 64 bits, a block's in
/// 32, big-endian; then each block's stored bytes in 32 bits, and the block compressed after its
/// bits were shuffled.
std::unique_ptr<FilterStep> make_bitshuffle_step(BitshuffleParameters parameters,
                                                 std::unique_ptr<BlockDecoder> blocks);

}  // namespace warpfold::io
