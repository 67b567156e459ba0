#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/results/axis_parts.hpp"
#include "core/values/factors.hpp"
#include "cpu/products/factor_terms.hpp"
#include "cpu/products/product_outputs.hpp"
#include "cpu/reduce/axis_reducer.hpp"
#include "cpu/reduce/axis_value_reducer.hpp"

namespace warpfold::cpu {

/// One thread's reduction of elements that have factors: those that have a factor and an output in
/// common are reduced first, as if they had none, and their sums multiplied.
class PooledReducer {
 public:
  PooledReducer(const Kernels& kernels, ElementFormat format, const Decoding& decoding,
                const Factors& factors, ProductOutputs& outputs);

  /// Forgets what was reduced.
  void begin() { pool_factors_.clear(); }

  /// Reduces a slab; or returns false, and does nothing, where that gains nothing or factors don't
  /// allow it.
  bool reduce(const StagedChunks& slab, const std::byte* staging);

  /// Adds what there is to the outputs.
  void finish();

 private:
  bool take_factors(const StagedChunks& slab);
  void add_counts(const AxisParts& pools);

  /// Adds number(pool) of each, times its factor: those whose product two doubles don't hold by
  /// `spill`.
  template <class Number>
  void add(AxisValueReducer<double>& reducer, const Number& number,
           void (AxisSpills::*spill)(std::uint64_t, double, double));

  const Kernels& kernels_;
  Factors factors_;
  ProductOutputs& outputs_;
  AxisValueReducer<double> products_;
  AxisValueReducer<double> weights_;
  AxisValueReducer<double> squares_;
  std::unique_ptr<AxisReducer> pools_;
  std::vector<double> pool_factors_;  ///< 0 where elements are left out
  std::vector<double> next_factors_;
  PaddedDoubles number_;
  PaddedDoubles factor_;
  PaddedDoubles high_;
  PaddedDoubles low_;
};

}  // namespace warpfold::cpu
