#include "core/results/axis_parts.hpp"

#include <bit>

namespace warpfold {
namespace {

template <class Sum>
using SumsByOutput = std::unordered_map<std::uint64_t, Sum>;

template <class Sum>
void merge_sums(SumsByOutput<Sum>& into, const SumsByOutput<Sum>& from, OutputMap to) {
  for (const auto& [output, addend] : from) {
    Sum& sum = into[to(output)];
    sum.add(addend);
    sum.normalize();
  }
}

template <class Sum>
void append_sums(const SumsByOutput<Sum>& sums, std::vector<std::uint64_t>& words) {
  words.push_back(sums.size());
  for (const auto& [output, sum] : sums) {
    words.push_back(output);
    for (const std::int64_t limb : sum.limb) words.push_back(std::bit_cast<std::uint64_t>(limb));
  }
}

template <class Sum>
std::span<const std::uint64_t> merge_words(SumsByOutput<Sum>& into,
                                           std::span<const std::uint64_t> words) {
  const std::uint64_t count = words[0];
  words = words.subspan(1);
  for (std::uint64_t i = 0; i < count; ++i) {
    Sum& sum = into[words[0]];
    for (std::size_t digit = 0; digit < Sum::limbs; ++digit)
      sum.limb[digit] += std::bit_cast<std::int64_t>(words[1 + digit]);
    sum.normalize();
    words = words.subspan(1 + Sum::limbs);
  }
  return words;
}

template <class Sum>
void add_sum(const SumsByOutput<Sum>& sums, std::uint64_t output, Sum& into) {
  const auto spilled = sums.find(output);
  if (spilled == sums.end()) return;
  into.add(spilled->second);
  into.normalize();
}

template <class Sum>
void add_number(Sum& sum, double number) {
  sum.add(number);
  sum.normalize();
}

template <class Sum, class Number>
void add_product_of(Sum& sum, const Number& number, double factor) {
  sum.add_product(number, factor);
  sum.normalize();
}

/// Adds a weight times what `add` adds to a sum of squares.
template <class Add>
void add_weighted(ExactSumOfWeightedSquares& sum, double weight, const Add& add) {
  ExactSumOfSquares squares{};
  add(squares);
  squares.normalize();
  add_product_of(sum, squares, weight);
}

}  // namespace

void AxisSpills::add(const AxisSpill& spill) {
  switch (spill.term) {
    case AxisTerm::value:
      return add_number(sum_[spill.output], spill.addend);
    case AxisTerm::magnitude:
      return add_number(absolute_[spill.output], spill.addend);
    case AxisTerm::square:
      return add_number(squares_[spill.output], spill.addend);
    case AxisTerm::root:
    default:
      break;
  }
  ExactSumOfSquares& squares = squares_[spill.output];
  squares.add_square(spill.addend);
  squares.normalize();
}

void AxisSpills::add(std::span<const AxisSpill> spills) {
  while (!spills.empty()) {
    const AxisSpill& spill = spills.front();
    const bool is_pair = spill.term >= AxisTerm::product;
    if (!is_pair)
      add(spill);
    else if (spill.term == AxisTerm::product)
      add_product(spill.output, spill.addend, spills[1].addend);
    else if (spill.term == AxisTerm::weighted_square)
      add_weighted_squares(spill.output, spill.addend, spills[1].addend);
    else
      add_weighted_square(spill.output, spill.addend, spills[1].addend);
    spills = spills.subspan(is_pair ? 2 : 1);
  }
}

void AxisSpills::add(std::uint64_t output, AxisTerm term, const ExactSum& addend) {
  ExactSum& sum = term == AxisTerm::value ? sum_[output] : absolute_[output];
  sum.add(addend);
  sum.normalize();
}

void AxisSpills::add(std::uint64_t output, AxisTerm, const ExactSumOfSquares& addend) {
  ExactSumOfSquares& squares = squares_[output];
  squares.add(addend);
  squares.normalize();
}

void AxisSpills::add_product(std::uint64_t output, double a, double b) {
  ExactSumOfSquares& sum = products_[output];
  sum.add_product(a, b);
  sum.normalize();
}

void AxisSpills::add_magnitude(std::uint64_t output, double count, double magnitude) {
  ExactSum number{};
  number.add(count);
  number.normalize();
  add_product_of(absolute_[output], number, magnitude);
}

void AxisSpills::add_weighted_square(std::uint64_t output, double x, double weight) {
  add_weighted(weighted_squares_[output], weight,
               [&](ExactSumOfSquares& squares) { squares.add_square(x); });
}

void AxisSpills::add_weighted_square(std::uint64_t output, int128 x, double weight) {
  const auto magnitude = static_cast<uint128>(x < 0 ? -x : x);
  add_weighted(weighted_squares_[output], weight,
               [&](ExactSumOfSquares& squares) { squares.add(magnitude * magnitude, 0); });
}

void AxisSpills::add_weighted_squares(std::uint64_t output, double part, double weight) {
  add_weighted(weighted_squares_[output], weight,
               [&](ExactSumOfSquares& squares) { squares.add(part); });
}

void AxisSpills::add_products(const AxisSpills& pools, std::span<const double> factors,
                              std::uint64_t outputs) {
  for (const auto& [pool, sum] : pools.sum_)
    if (factors[pool] != 0) add_product_of(products_[pool % outputs], sum, factors[pool]);
  for (const auto& [pool, squares] : pools.squares_)
    if (factors[pool] != 0)
      add_product_of(weighted_squares_[pool % outputs], squares, factors[pool]);
}

void AxisSpills::add_to_magnitudes(const AxisSpills& sums) { merge_sums(absolute_, sums.sum_, {}); }

void AxisSpills::add_to_weighted_squares(const AxisSpills& sums) {
  for (const auto& [output, addend] : sums.sum_) {
    ExactSumOfWeightedSquares& sum = weighted_squares_[output];
    sum.add_narrower(addend);
    sum.normalize();
  }
}

void AxisSpills::merge(const AxisSpills& other, OutputMap to) {
  merge_sums(sum_, other.sum_, to);
  merge_sums(absolute_, other.absolute_, to);
  merge_sums(squares_, other.squares_, to);
  merge_sums(products_, other.products_, to);
  merge_sums(weighted_squares_, other.weighted_squares_, to);
}

void AxisSpills::add_to(std::uint64_t output, Accumulator& accumulator) const {
  add_sum(sum_, output, accumulator.sum);
  add_sum(absolute_, output, accumulator.absolute);
  add_sum(squares_, output, accumulator.squares);
}

void AxisSpills::add_products_to(std::uint64_t output, WeightedSums& sums) const {
  add_sum(products_, output, sums.products);
  add_sum(weighted_squares_, output, sums.squares);
}

void AxisSpills::append_to(std::vector<std::uint64_t>& words) const {
  append_sums(sum_, words);
  append_sums(absolute_, words);
  append_sums(squares_, words);
  append_sums(products_, words);
  append_sums(weighted_squares_, words);
}

std::span<const std::uint64_t> AxisSpills::merge(std::span<const std::uint64_t> words) {
  words = merge_words(sum_, words);
  words = merge_words(absolute_, words);
  words = merge_words(squares_, words);
  words = merge_words(products_, words);
  return merge_words(weighted_squares_, words);
}

}  // namespace warpfold
