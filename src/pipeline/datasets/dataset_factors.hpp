#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/values/factors.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// The most memory of a rank that factors may take: 2^28 of them.
inline constexpr std::uint64_t max_factor_bytes = std::uint64_t{2} << 30;

/// An option that names what elements are multiplied by.
struct FactorsOption {
  std::string name;  ///< weights or times
  std::string text;
  bool are_weights = false;
};

/// Returns the one of `weights` and `times` that is given.
std::optional<FactorsOption> factors_option(const ReduceOptions& options);

/// Factors of a view's elements in a reduction, in the memory of every rank.
class DatasetFactors {
 public:
  /// Reads what an option names beside a view that has elements. Collective; throws the same Error
  /// on every rank, a usage Error for what does not fit.
  DatasetFactors(const FactorsOption& option, DatasetView& view, Run& run);

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

/// Reads an option's factors; none for a view without elements. Collective; throws the same Error
/// on every rank.
std::optional<DatasetFactors> read_factors(const FactorsOption& option, DatasetView& view,
                                           Run& run);

}  // namespace warpfold::pipeline
