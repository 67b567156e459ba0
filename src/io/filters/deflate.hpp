#pragma once

#include <memory>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Inflates streams in the zlib format (RFC 1950), by libdeflate.
std::unique_ptr<FilterStep> make_inflate_step();

/// Makes such streams, of level 0 (stored) to 9 (smallest).
std::unique_ptr<Compressor> make_deflate_compressor(int level);

}  // namespace warpfold::io
