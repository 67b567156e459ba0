#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/lz4/lz4_block.hpp"

/// LZ4 blocks decoded as a GPU does it.
namespace warpfold::cuda::lz4 {

using Bytes = std::vector<std::uint8_t>;

struct StoredBlock {
  Bytes stored;
  std::size_t out_bytes = 0;
  BlockForm form = BlockForm::compressed;
};

struct DecodedBlock {
  bool is_good = false;
  bool is_overrun = false;  ///< bytes behind the output were written
  Bytes out;
};

/// Decodes blocks in a warp that is emulated, or on the GPU; of planes of the bits of elements of
/// so many bytes, unless that is 0.
std::vector<DecodedBlock> decoded(const std::vector<StoredBlock>& all,
                                  std::size_t bit_element_bytes = 0);

/// Says why nothing can be decoded here; empty where it can.
std::string why_not_decoded();

}  // namespace warpfold::cuda::lz4
