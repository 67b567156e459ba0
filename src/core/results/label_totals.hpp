#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/results/axis_totals.hpp"
#include "core/results/label_numbers.hpp"

namespace warpfold {

/// The most labels that totals are kept of.
inline constexpr std::uint64_t max_labels = std::uint64_t{1} << 24;

/// Totals of the elements of each label, combined exactly of what workers and ranks have.
class LabelTotals {
 public:
  /// `values` is the type of the elements once decoded.
  LabelTotals(ElementType values, ReduceNeeds needs) : values_(values), needs_(needs) {}

  std::span<const std::uint64_t> labels() const { return numbers_.labels(); }

  /// Output i is that of labels()[i].
  const AxisTotals& totals() const { return totals_; }

  /// Adds a reduction of the same needs, whose output i is that of labels[i]. Throws an Error where
  /// there are more than max_labels.
  void merge(std::span<const std::uint64_t> labels, const AxisParts& parts);

  /// Returns all as words, for messages between ranks.
  std::vector<std::uint64_t> packed() const;

  /// Adds the packed() totals of the same needs. Throws an Error above max_labels.
  void merge(std::span<const std::uint64_t> packed);

  /// Returns the same with labels rising.
  LabelTotals sorted() const;

 private:
  ElementType values_;
  ReduceNeeds needs_;
  LabelNumbers numbers_;
  AxisTotals totals_{values_, needs_, 0};
};

}  // namespace warpfold
