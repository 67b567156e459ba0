#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/numeric/expansion.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/weighted_sums.hpp"

namespace warpfold {

/// A term says which of an output's sums an AxisSpill belongs to; `root`: its square belongs to the
/// squares. The last three are those of two spills, one behind the other, the second of which is a
/// factor or weight: the product belongs to the values, or to the weighted squares, as does that of
/// the root's square.
enum class AxisTerm : std::uint8_t {
  value,
  magnitude,
  square,
  root,
  product,
  weighted_square,
  weighted_root
};

/// A spill is a number that output `output` has to have added to one of its sums: what its
/// expansion had no room for.
struct AxisSpill {
  std::uint64_t output = 0;
  double addend = 0;
  AxisTerm term = AxisTerm::value;
};

/// Outputs by the numbers of others: those that these are merged into.
class OutputMap {
 public:
  /// Makes one of each to the one of its own number.
  OutputMap() = default;
  explicit OutputMap(std::span<const std::uint32_t> outputs) : outputs_(outputs) {}

  std::uint64_t operator()(std::uint64_t output) const {
    return outputs_.empty() ? output : outputs_[output];
  }

 private:
  std::span<const std::uint32_t> outputs_;
};

/// Spills are numbers, summed exactly for each output that has any.
class AxisSpills {
 public:
  /// Adds a number, which is finite, of one of the first four terms.
  void add(const AxisSpill& spill);

  /// Adds finite numbers of all terms.
  void add(std::span<const AxisSpill> spills);

  /// Add a normalized sum to an output's values or magnitudes, or to its squares.
  void add(std::uint64_t output, AxisTerm term, const ExactSum& addend);
  void add(std::uint64_t output, AxisTerm term, const ExactSumOfSquares& addend);

  /// Adds the product of two finite numbers to an output's sum, whatever its size.
  void add_product(std::uint64_t output, double a, double b);

  /// Adds the product of a count and a finite number to an output's magnitudes.
  void add_magnitude(std::uint64_t output, double count, double magnitude);

  /// Adds a weight times a square: that of a double, of an integer, or a part of a sum of squares.
  void add_weighted_square(std::uint64_t output, double x, double weight);
  void add_weighted_square(std::uint64_t output, int128 x, double weight);
  void add_weighted_squares(std::uint64_t output, double part, double weight);

  /// Adds what `pools`, each of which is part of output pool % outputs, have spilled of their sums
  /// and squares, times factors of theirs.
  void add_products(const AxisSpills& pools, std::span<const double> factors,
                    std::uint64_t outputs);

  /// Add what others have spilled of their sums to these outputs' magnitudes or weighted squares.
  void add_to_magnitudes(const AxisSpills& sums);
  void add_to_weighted_squares(const AxisSpills& sums);

  void merge(const AxisSpills& other, OutputMap to);

  bool empty() const {
    return sum_.empty() && absolute_.empty() && squares_.empty() && products_.empty() &&
           weighted_squares_.empty();
  }
  bool any_of_sum(std::uint64_t output) const {
    return !(sum_.empty() && products_.empty()) &&
           (sum_.contains(output) || products_.contains(output));
  }
  bool any(std::uint64_t output) const {
    return !empty() && (any_of_sum(output) || any_of_absolute(output) ||
                        squares_.contains(output) || weighted_squares_.contains(output));
  }
  bool any_product(std::uint64_t output) const { return products_.contains(output); }
  bool any_of_absolute(std::uint64_t output) const { return absolute_.contains(output); }

  /// Adds what the output has spilled, but for products and weighted squares.
  void add_to(std::uint64_t output, Accumulator& accumulator) const;

  /// Adds the products that it has spilled, and the weighted squares.
  void add_products_to(std::uint64_t output, WeightedSums& sums) const;

  /// Appends all as words, for messages.
  void append_to(std::vector<std::uint64_t>& words) const;

  /// Merges what append_to() left at the start of `words`; returns the rest of them.
  std::span<const std::uint64_t> merge(std::span<const std::uint64_t> words);

 private:
  /// Sums are normalized.
  std::unordered_map<std::uint64_t, ExactSum> sum_;
  std::unordered_map<std::uint64_t, ExactSum> absolute_;
  std::unordered_map<std::uint64_t, ExactSumOfSquares> squares_;
  std::unordered_map<std::uint64_t, ExactSumOfSquares> products_;  ///< products of the sum, too
  std::unordered_map<std::uint64_t, ExactSumOfWeightedSquares> weighted_squares_;
};

/// The counts of an output along an axis tell what was reduced.
struct AxisCounts {
  std::uint64_t elements = 0;  ///< that count, NaN and infinities included
  std::uint64_t nan = 0;
  std::uint64_t positive_infinities = 0;
  std::uint64_t negative_infinities = 0;
};

/// Reduces of many outputs side by side, an element of each array for each output. Arrays are empty
/// where the needs don't ask for them.
struct AxisParts {
  AxisParts() = default;

  /// Makes parts of no elements.
  AxisParts(ReduceNeeds needs, std::uint64_t outputs) { grow(needs, outputs); }

  /// Adds outputs of no elements, of the same needs, until there are so many.
  void grow(ReduceNeeds needs, std::uint64_t outputs) {
    counts.resize(outputs);
    if (needs.sum) sum.resize(outputs);
    if (needs.absolute) absolute.resize(outputs);
    if (needs.squares) squares.resize(outputs);
    if (needs.extrema) {
      minimum.resize(outputs, Extremum::none());
      maximum.resize(outputs, Extremum::none());
    }
    first_nan.resize(outputs, no_index);
  }

  std::vector<AxisCounts> counts;
  std::vector<Expansion> sum;  ///< sums of finite elements; of integers
  std::vector<Expansion> absolute;
  std::vector<Expansion> squares;
  std::vector<Extremum> minimum;  ///< indices count rows
  std::vector<Extremum> maximum;
  std::vector<std::uint64_t> first_nan;
  AxisSpills spills;
};

}  // namespace warpfold
