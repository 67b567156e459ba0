#include "cpu/products/pooled_reducer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/values/left_out_mark.hpp"

namespace warpfold::cpu {
namespace {

/// Elements of a pool from which on pools cost less than products of all elements.
constexpr std::uint64_t least_pool = 8;

/// Sums have no extrema, whose rows would count.
constexpr BoxIndices no_rows;

}  // namespace

PooledReducer::PooledReducer(const Kernels& kernels, ElementFormat format, const Decoding& decoding,
                             const Factors& factors, ProductOutputs& outputs)
    : kernels_(kernels),
      factors_(factors),
      outputs_(outputs),
      products_(kernels, outputs.products),
      weights_(kernels, outputs.weights),
      squares_(kernels, outputs.squares),
      pools_(make_axis_reducer(kernels, format, decoding,
                               {.sum = outputs.needs.sum, .squares = outputs.needs.squares})) {
  for (AxisValueReducer<double>* reducer : {&products_, &weights_, &squares_})
    reducer->set_rows(no_rows);
}

bool PooledReducer::reduce(const StagedChunks& slab, const std::byte* staging) {
  if (slab.factor_places == 0 || slab.target.elements / slab.factor_places < least_pool)
    return false;
  if (!take_factors(slab)) return false;
  if (next_factors_ != pool_factors_) {
    finish();
    pool_factors_ = next_factors_;
    pools_->begin(pool_factors_.size());
  }
  pools_->reduce(slab, staging);
  return true;
}

/// Returns false where products depend on more than the finite elements' sum.
bool PooledReducer::take_factors(const StagedChunks& slab) {
  next_factors_.resize(slab.factor_places);
  copy_factors(factors_, slab.indices, 0, slab.factor_places, next_factors_.data());
  for (double& factor : next_factors_) {
    if (is_left_out_mark(factor))
      factor = 0.0;
    else if (!(factor > 0.0 && std::isfinite(factor)) && !factors_.are_weights)
      return false;
  }
  return true;
}

void PooledReducer::finish() {
  if (pool_factors_.empty()) return;
  const AxisParts pools = pools_->finish();
  const ReduceNeeds& needs = outputs_.needs;
  add_counts(pools);
  for (std::size_t part = 0; part < std::size(Expansion{}.part); ++part) {
    if (needs.sum)
      add(
          products_, [&](std::uint64_t pool) { return pools.sum[pool].part[part]; },
          &AxisSpills::add_product);
    if (needs.squares)
      add(
          squares_, [&](std::uint64_t pool) { return pools.squares[pool].part[part]; },
          &AxisSpills::add_weighted_squares);
  }
  if (needs.absolute)
    add(
        weights_,
        [&](std::uint64_t pool) {
          return static_cast<double>(pools.counts[pool].elements - pools.counts[pool].nan);
        },
        &AxisSpills::add_magnitude);
  outputs_.spills().add_products(pools.spills, pool_factors_, outputs_.products.outputs());
  pool_factors_.clear();
}

void PooledReducer::add_counts(const AxisParts& pools) {
  for (std::uint64_t pool = 0; pool < pool_factors_.size(); ++pool) {
    if (pool_factors_[pool] == 0.0) continue;
    AxisCounts& counts = outputs_.counts(pool % outputs_.products.outputs());
    const AxisCounts& more = pools.counts[pool];
    counts.elements += more.elements;
    counts.nan += more.nan;
    counts.positive_infinities += more.positive_infinities;
    counts.negative_infinities += more.negative_infinities;
  }
}

template <class Number>
void PooledReducer::add(AxisValueReducer<double>& reducer, const Number& number,
                        void (AxisSpills::*spill)(std::uint64_t, double, double)) {
  for (std::uint64_t first = 0; first < pool_factors_.size(); first += block_elements) {
    const std::uint64_t n = std::min<std::uint64_t>(block_elements, pool_factors_.size() - first);
    double* const numbers = number_.resize(n);
    double* const factors = factor_.resize(n);
    double* const high = high_.resize(n);
    double* const low = low_.resize(n);
    std::copy_n(pool_factors_.data() + first, n, factors);
    bool any = false;
    for (std::uint64_t i = 0; i < n; ++i) any |= (numbers[i] = number(first + i)) != 0.0;
    if (!any) continue;
    const ProductKinds kinds = kernels_.products(numbers, factors, n, high, low);
    for (std::uint64_t i = 0; kinds.inexact && i < n; ++i) {
      if (is_exact_product(numbers[i], factors[i])) continue;
      (outputs_.spills().*spill)((first + i) % outputs_.products.outputs(), numbers[i], factors[i]);
      high[i] = low[i] = 0.0;
    }
    reducer.reduce_run(high, n, first);
    if (kinds.rest) reducer.reduce_run(low, n, first);
  }
}

}  // namespace warpfold::cpu
