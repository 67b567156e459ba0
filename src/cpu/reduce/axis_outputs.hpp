#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "core/results/axis_parts.hpp"
#include "core/results/label_numbers.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// Doubles of the widest vector.
inline constexpr std::size_t vector_columns = 8;

/// One thread's results of a reduction, for outputs side by side, or for those of labels. Reducers
/// call an output by its place in a row of places: the one at place p belongs to the output of
/// p % row_places().
class AxisOutputs {
 public:
  /// Takes elements of which those that are left out are marked, if any are.
  AxisOutputs(const Kernels& kernels, ReduceNeeds needs, bool marked)
      : kernels_(kernels), needs_(needs), marked_(marked) {}

  /// Forgets what was reduced.
  void begin(std::uint64_t outputs) {
    outputs_ = outputs;
    rows_ = 0;
    numbers_ = {};
    parts_ = AxisParts({.extrema = needs_.extrema}, outputs);
    for (const Term term : terms)
      if (needs(term)) sums_of(term).clear(outputs);
  }

  /// Has rows of numbers.size() places from now on, of which place p belongs to output numbers[p],
  /// or to none where that is no_label. There are `outputs` of them, as many as before or more.
  /// Borrows the numbers.
  void label(std::span<const std::uint32_t> numbers, std::uint64_t outputs) {
    numbers_ = numbers;
    outputs_ = outputs;
    parts_.grow({.extrema = needs_.extrema}, outputs);
    for (const Term term : terms)
      if (needs(term)) sums_of(term).grow(outputs);
  }

  AxisParts finish() {
    if (rows_ != 0)
      for (AxisCounts& counts : parts_.counts) counts.elements += rows_;
    if (needs_.sum) parts_.sum = sums_of(Term::value).expansions(outputs_);
    if (needs_.absolute) parts_.absolute = sums_of(Term::magnitude).expansions(outputs_);
    if (needs_.squares) parts_.squares = sums_of(Term::square).expansions(outputs_);
    return std::exchange(parts_, {});
  }

  static constexpr Term terms[column_terms] = {Term::value, Term::magnitude, Term::square};

  std::uint64_t outputs() const { return outputs_; }
  std::uint64_t row_places() const { return is_labelled() ? numbers_.size() : outputs_; }

  /// Places that have one index, as extrema have it: each has its own where there are labels, a row
  /// where there are none.
  std::uint64_t places_of_index() const { return is_labelled() ? 1 : outputs_; }

  const ReduceNeeds& needs() const { return needs_; }
  bool needs(Term term) const {
    if (term == Term::value) return needs_.sum;
    return term == Term::magnitude ? needs_.absolute : needs_.squares;
  }

  /// Counts and extrema; sums are added below.
  AxisParts& parts() { return parts_; }

  /// Return those of the output of a place.
  AxisCounts& counts(std::uint64_t place) { return of_place(&AxisParts::counts, place); }
  Extremum& minimum(std::uint64_t place) { return of_place(&AxisParts::minimum, place); }
  Extremum& maximum(std::uint64_t place) { return of_place(&AxisParts::maximum, place); }
  std::uint64_t& first_nan(std::uint64_t place) { return of_place(&AxisParts::first_nan, place); }

  /// Counts an element of each place below `places`.
  void count_places(std::uint64_t places) {
    const std::uint64_t rows = places / row_places();
    if (!is_labelled())
      rows_ += rows;
    else
      for (const std::uint32_t number : numbers_)
        if (number != no_label) parts_.counts[number].elements += rows;
    for (std::uint64_t place = 0; place < places % row_places(); ++place) count(place);
  }

  /// Counts an element of a place.
  void count(std::uint64_t place) { ++counts(place).elements; }

  bool marked() const { return marked_; }

  /// Returns whether a NaN stands for an element that is left out.
  template <class T>
  bool is_left_out(T nan) const {
    return marked_ && is_left_out_mark(nan);
  }

  /// Takes back that so many of a place's elements were counted.
  void leave_out(std::uint64_t place, std::uint64_t elements) {
    counts(place).elements -= elements;
  }

  /// Adds an addend within bounds to the sum of a place's output.
  void add(std::uint64_t place, double addend, Term term) {
    const std::uint64_t output = output_of(place);
    if (addend != 0.0 && output != no_label) add_to(output, addend, term);
  }

  /// Adds to the sums of `n` <= column_tile consecutive places what `addends` has of each in
  /// `levels` rows of column_tile. There is room up to the next multiple of 8, of zeros; the
  /// addends are lost.
  void add_side_by_side(std::uint64_t first_place, double* addends, std::size_t n, int levels,
                        Term term) {
    if (is_labelled()) return add_to_labels(first_place, addends, n, levels, term);
    OutputSums& sums = sums_of(term);
    double* parts[expansion_parts];
    for (std::size_t p = 0; p < std::size(parts); ++p) parts[p] = sums.part[p].data() + first_place;
    const int used = kernels_.add_columns(addends, n, levels, parts);
    sums.used = std::max(sums.used, used);
    if (used <= expansion_parts) return;
    for (int level = 0; level < levels; ++level)
      for (std::size_t i = 0; i < n; ++i)
        spill(first_place + i, addends[static_cast<std::size_t>(level) * column_tile + i], term);
  }

  /// Adds the term of a finite element, of any size.
  void add_term(std::uint64_t place, double x, Term term) {
    const std::uint64_t output = output_of(place);
    if (output == no_label) return;
    if (term == Term::square) {
      if (!is_root(x)) return parts_.spills.add({output, x, AxisTerm::root});
      const DoublePair square = square_of(x);
      add_to(output, square.high, term);
      add_to(output, square.low, term);
      return;
    }
    const double addend = term == Term::magnitude ? std::fabs(x) : x;
    if (is_addend(addend)) return add_to(output, addend, term);
    spill(output, addend, term);
  }

 private:
  /// An expansion for each output, its parts in an array each, for the kernels.
  struct OutputSums {
    std::vector<double> part[expansion_parts];
    int used = 0;  ///< parts; beyond those all are 0

    void clear(std::uint64_t outputs) {
      for (std::vector<double>& parts : part)
        if (used-- > 0) std::fill(parts.begin(), parts.end(), 0.0);
      used = 0;
      grow(outputs);
    }

    void grow(std::uint64_t outputs) {
      for (std::vector<double>& parts : part) parts.resize(outputs + vector_columns);
    }

    /// Returns what there is no room for.
    double add(std::uint64_t output, double addend) {
      for (int p = 0; p < expansion_parts; ++p) {
        double& sum = part[p][output];
        const DoublePair taken = two_sum(sum, addend);
        sum = taken.high;
        addend = taken.low;
        used = std::max(used, p + 1);
        if (addend == 0.0) break;
      }
      return addend;
    }

    std::vector<Expansion> expansions(std::uint64_t outputs) const {
      std::vector<Expansion> sums(outputs);
      for (int p = 0; p < std::min(used, expansion_parts); ++p)
        for (std::uint64_t i = 0; i < outputs; ++i) sums[i].part[p] = part[p][i];
      return sums;
    }
  };

  bool is_labelled() const { return !numbers_.empty(); }

  std::uint64_t output_of(std::uint64_t place) const {
    return is_labelled() ? numbers_[place] : place;
  }

  template <class Part>
  Part& of_place(std::vector<Part> AxisParts::*array, std::uint64_t place) {
    const std::uint64_t output = output_of(place);
    return output == no_label ? (unlabelled_.*array).front() : (parts_.*array)[output];
  }

  void add_to_labels(std::uint64_t first_place, const double* addends, std::size_t n, int levels,
                     Term term) {
    for (int level = 0; level < levels; ++level)
      for (std::size_t i = 0; i < n; ++i)
        add(first_place + i, addends[static_cast<std::size_t>(level) * column_tile + i], term);
  }

  void add_to(std::uint64_t output, double addend, Term term) {
    spill(output, sums_of(term).add(output, addend), term);
  }

  OutputSums& sums_of(Term term) { return sums_[static_cast<std::size_t>(term)]; }

  void spill(std::uint64_t output, double rest, Term term) {
    if (rest != 0.0) parts_.spills.add({output, rest, static_cast<AxisTerm>(term)});
  }

  const Kernels& kernels_;
  ReduceNeeds needs_;
  bool marked_;
  std::uint64_t outputs_ = 1;
  std::uint64_t rows_ = 0;  ///< rows still to be counted, with one element of each output
  std::span<const std::uint32_t> numbers_;  ///< outputs of a row's places; none: one each
  AxisParts parts_;
  AxisParts unlabelled_{{.extrema = true}, 1};  ///< takes what belongs to no output
  OutputSums sums_[column_terms];
};

}  // namespace warpfold::cpu
