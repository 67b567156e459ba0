#pragma once

#include <memory>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// HDF5 filter 32004. Big-endian: the chunk's bytes in 64 bits, a block's in 32; then each block's
/// stored bytes in 32 bits before the block, which is an LZ4 block unless it has its full size.
std::unique_ptr<FilterStep> make_lz4_filter_step(std::unique_ptr<BlockDecoder> lz4);

}  // namespace warpfold::io
