#pragma once

#include <cstdint>
#include <utility>

#include "core/results/axis_parts.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/axis_outputs.hpp"

namespace warpfold::cpu {

/// One thread's sums of products, for outputs side by side.
struct ProductOutputs {
  ProductOutputs(const Kernels& kernels, ReduceNeeds wanted)
      : needs(wanted),
        products(kernels, {.sum = needs.sum}, true),
        weights(kernels, {.sum = needs.absolute}, false),
        squares(kernels, {.sum = needs.squares}, false) {}

  void begin(std::uint64_t outputs) {
    products.begin(outputs);
    weights.begin(outputs);
    squares.begin(outputs);
  }

  AxisParts finish() {
    AxisParts parts = products.finish();
    AxisParts of_weights = weights.finish();
    AxisParts of_squares = squares.finish();
    parts.absolute = std::move(of_weights.sum);
    parts.squares = std::move(of_squares.sum);
    parts.spills.add_to_magnitudes(of_weights.spills);
    parts.spills.add_to_weighted_squares(of_squares.spills);
    return parts;
  }

  AxisCounts& counts(std::uint64_t output) { return products.parts().counts[output]; }
  AxisSpills& spills() { return products.parts().spills; }

  ReduceNeeds needs;
  AxisOutputs products;  ///< and counts
  AxisOutputs weights;
  AxisOutputs squares;  ///< squares of values, times weights
};

}  // namespace warpfold::cpu
