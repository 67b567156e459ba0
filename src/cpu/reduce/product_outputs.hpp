#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/results/axis_parts.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/axis_outputs.hpp"

namespace warpfold::cpu {

/// Tells whether the product of two finite doubles is exact as two.
inline bool is_exact_product(double a, double b) {
  const double size = std::fabs(a * b);
  return std::fabs(a) <= largest_factor && std::fabs(b) <= largest_factor &&
         size <= largest_product && (size >= least_product || a == 0.0 || b == 0.0);
}

/// What one thread has reduced of products into outputs side by side.
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
  AxisOutputs squares;  ///< of values, times weights
};

}  // namespace warpfold::cpu
