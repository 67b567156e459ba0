#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "warpfold/core/accumulator.hpp"

namespace warpfold {

/// Which of an output's sums an AxisSpill belongs to; `root`: its square belongs to the squares.
enum class AxisTerm : std::uint8_t { value, magnitude, square, root };

/// A number that output `output` has to have added to one of its sums: what its expansion had no
/// room for.
struct AxisSpill {
  std::uint64_t output = 0;
  double addend = 0;
  AxisTerm term = AxisTerm::value;
};

/// Spilled numbers, summed exactly for each output that has any.
class AxisSpills {
 public:
  /// A finite addend.
  void add(const AxisSpill& spill);
  void merge(const AxisSpills& other);

  bool empty() const { return sum_.empty() && absolute_.empty() && squares_.empty(); }
  bool any_of_sum(std::uint64_t output) const { return sum_.contains(output); }
  bool any_of_absolute(std::uint64_t output) const { return absolute_.contains(output); }

  /// Adds what the output has spilled.
  void add_to(std::uint64_t output, Accumulator& accumulator) const;

  /// As words, for messages.
  void append_to(std::vector<std::uint64_t>& words) const;

  /// Merges what append_to() left at the start of `words`; returns the rest of them.
  std::span<const std::uint64_t> merge(std::span<const std::uint64_t> words);

 private:
  /// Sums are normalized.
  std::unordered_map<std::uint64_t, ExactSum> sum_;
  std::unordered_map<std::uint64_t, ExactSum> absolute_;
  std::unordered_map<std::uint64_t, ExactSumOfSquares> squares_;
};

}  // namespace warpfold
