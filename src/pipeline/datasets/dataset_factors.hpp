#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/values/factors.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// The most memory of a rank that factors may take: 2^28 of them.
inline constexpr std::uint64_t max_factor_bytes = std::uint64_t{2} << 30;

/// Names the one of the options `weights` and `times` that is given.
std::string option_of_factors(const ReduceOptions& options);

/// What a reduction multiplies the elements of a view by, as every rank has it in memory.
class DatasetFactors {
 public:
  /// Reads what the options' `weights` or `times` name, one of which is given, beside a view that
  /// has elements. Collective; throws the same Error on every rank, a usage Error for what does not
  /// fit.
  DatasetFactors(const ReduceOptions& options, DatasetView& view, Run& run);

  Factors factors() const {
    return {values_.data(), stride_, values_.size(), are_weights_,
            rests_.empty() ? nullptr : rests_.data()};
  }

 private:
  bool are_weights_;
  std::uint64_t stride_ = 1;
  std::vector<double> values_;
  std::vector<double> rests_;  ///< empty where all are 0
};

}  // namespace warpfold::pipeline
