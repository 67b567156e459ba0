#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/values/factors.hpp"
#include "io/dataset/dataset.hpp"
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
  /// Reads what the options' `weights` or `times` name, one of which is given, for a view that has
  /// elements. Collective; throws the same Error on every rank, a usage Error for what does not
  /// fit.
  DatasetFactors(const ReduceOptions& options, const DatasetView& view, Run& run);

  Factors factors() const { return {values_.data(), stride_, values_.size(), are_weights_}; }
  void require_unchanged() const { dataset_->require_unchanged(); }
  std::set<std::string> files() const { return io::input_files(dataset_->info()); }

 private:
  bool are_weights_;
  std::optional<io::Dataset> dataset_;
  std::uint64_t stride_ = 1;
  std::vector<double> values_;
};

}  // namespace warpfold::pipeline
