#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/partition.hpp"
#include "core/results/accumulator.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// Consecutive elements in device memory, from a tile boundary on, and where their prefixes go:
/// memory of its own, or the same where input and output elements have the same size.
struct BlockView {
  const std::byte* input;  ///< aligned to its elements, as is the output
  std::byte* output;
  std::uint64_t elements;
  ElementFormat format;
  ElementType output_type;

  WARPFOLD_HD bool input_in_vectors() const { return in_vectors(input); }
  WARPFOLD_HD bool output_in_vectors() const { return in_vectors(output); }

  std::uint64_t tiles() const { return ceil_div(elements, scan_order::tile_elements); }

 private:
  WARPFOLD_HD static bool in_vectors(const std::byte* elements) {
    return reinterpret_cast<std::uintptr_t>(elements) % 16 == 0;
  }
};

/// Integers that the output type can't hold.
struct OverflowCheck {
  bool enabled;
  unsigned long long* first_index;  ///< lowest in the block; all bits set before the scan
};

}  // namespace warpfold::cuda::kernels
