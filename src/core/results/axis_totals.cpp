#include "core/results/axis_totals.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/results/statistic_table.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

template <class Part>
void append_words(const std::vector<Part>& parts, std::vector<std::uint64_t>& words) {
  static_assert(sizeof(Part) % sizeof(std::uint64_t) == 0);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(parts));
  const std::size_t before = words.size();
  words.resize(before + bytes.size() / sizeof(std::uint64_t));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(words.data() + before));
}

template <class Part>
void take_words(std::vector<Part>& parts, std::span<const std::uint64_t>& words) {
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(parts));
  std::copy_n(reinterpret_cast<const std::byte*>(words.data()), bytes.size(), bytes.begin());
  words = words.subspan(bytes.size() / sizeof(std::uint64_t));
}

/// Calls visit(array) for each array of parts.
template <class Parts, class Visit>
void for_each_array(Parts& parts, Visit&& visit) {
  visit(parts.counts);
  visit(parts.sum);
  visit(parts.absolute);
  visit(parts.squares);
  visit(parts.minimum);
  visit(parts.maximum);
  visit(parts.first_nan);
}

void merge_sums(std::vector<Expansion>& into, const std::vector<Expansion>& from, OutputMap to,
                AxisTerm term, AxisSpills& spills) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::uint64_t output = to(i);
    for (const double part : from[i].part) {
      if (part == 0.0) continue;
      const double rest = add(into[output], part);
      if (rest != 0.0) spills.add({output, rest, term});
    }
  }
}

void merge_extrema(std::vector<Extremum>& into, const std::vector<Extremum>& from, OutputMap to) {
  for (std::size_t i = 0; i < from.size(); ++i) into[to(i)].merge(from[i]);
}

template <class Sum>
void add_parts(Sum& sum, const std::vector<Expansion>& parts, std::uint64_t output) {
  if (parts.empty()) return;
  for (const double part : parts[output].part) sum.add(part);
}

Error no_result(const StatisticRow& row, ElementType to, std::uint64_t output) {
  return Error("the " + std::string(row.name) + " of output " + std::to_string(output) +
                   " doesn't fit " + std::string(name_of(to)),
               "",
               row.takes_overflow ? "Choose `output_type` f64, or `overflow` wrap."
                                  : "Choose `output_type` f64.");
}

/// Returns the type requested, or that of values. Throws a usage Error for an integer type.
ElementType real_type(const StatisticRow& row, ElementType value,
                      std::optional<ElementType> asked) {
  if (asked && is_integer(*asked))
    throw usage_error("the " + std::string(row.name) + " of " + std::string(name_of(value)) +
                          " cannot be stored as " + std::string(name_of(*asked)),
                      "it is a floating-point number",
                      "Choose one of f16, bf16, f32, f64 as `output_type`.");
  return asked.value_or(is_floating(value) ? value : ElementType::f64);
}

}  // namespace

ElementType axis_output_type(Statistic statistic, ElementType value,
                             std::optional<ElementType> asked) {
  const StatisticRow& row = row_of(statistic);
  switch (row.type) {
    case ResultType::count:
      return ElementType::u64;
    case ResultType::index:
      return ElementType::i64;
    case ResultType::element:
      return value;
    case ResultType::magnitude:
      return is_integer(value) ? ElementType::u64 : value;
    case ResultType::sum:
      if (is_floating(value)) break;
      return asked.value_or(is_signed_integer(value) ? ElementType::i64 : ElementType::u64);
    case ResultType::magnitudes:
      if (is_floating(value)) break;
      return asked.value_or(ElementType::u64);
    case ResultType::real:
      break;
  }
  return real_type(row, value, asked);
}

AxisTotals::AxisTotals(ElementType values, ReduceNeeds needs, std::uint64_t outputs)
    : values_(values), needs_(needs), parts_(needs, outputs) {}

AxisTotals::AxisTotals(ElementType values, ReduceNeeds needs, AxisParts parts)
    : values_(values), needs_(needs), parts_(std::move(parts)) {
  grow(parts_.counts.size());
}

void AxisTotals::grow(std::uint64_t outputs) { parts_.grow(needs_, outputs); }

void AxisTotals::merge(const AxisParts& parts, OutputMap to) {
  for (std::size_t i = 0; i < parts.counts.size(); ++i) {
    const std::uint64_t output = to(i);
    AxisCounts& counts = parts_.counts[output];
    const AxisCounts& more = parts.counts[i];
    counts.elements += more.elements;
    counts.nan += more.nan;
    counts.positive_infinities += more.positive_infinities;
    counts.negative_infinities += more.negative_infinities;
    parts_.first_nan[output] = std::min(parts_.first_nan[output], parts.first_nan[i]);
  }
  merge_sums(parts_.sum, parts.sum, to, AxisTerm::value, parts_.spills);
  merge_sums(parts_.absolute, parts.absolute, to, AxisTerm::magnitude, parts_.spills);
  merge_sums(parts_.squares, parts.squares, to, AxisTerm::square, parts_.spills);
  merge_extrema(parts_.minimum, parts.minimum, to);
  merge_extrema(parts_.maximum, parts.maximum, to);
  parts_.spills.merge(parts.spills, to);
}

std::vector<std::uint64_t> AxisTotals::packed() const {
  std::vector<std::uint64_t> words;
  for_each_array(parts_, [&](const auto& array) { append_words(array, words); });
  parts_.spills.append_to(words);
  return words;
}

void AxisTotals::merge(std::span<const std::uint64_t> packed) {
  merge(unpacked(packed, outputs()));
}

AxisParts AxisTotals::unpacked(std::span<const std::uint64_t> packed, std::uint64_t outputs) const {
  AxisParts parts(needs_, outputs);
  for_each_array(parts, [&](auto& array) { take_words(array, packed); });
  parts.spills.merge(packed);
  return parts;
}

Accumulator AxisTotals::accumulator(std::uint64_t output) const {
  Accumulator accumulator = Accumulator::empty();
  const AxisCounts& counts = parts_.counts[output];
  accumulator.count = static_cast<std::int64_t>(counts.elements);
  accumulator.nan_count = static_cast<std::int64_t>(counts.nan);
  accumulator.positive_infinities = static_cast<std::int64_t>(counts.positive_infinities);
  accumulator.negative_infinities = static_cast<std::int64_t>(counts.negative_infinities);
  add_parts(accumulator.sum, parts_.sum, output);
  add_parts(accumulator.absolute, parts_.absolute, output);
  add_parts(accumulator.squares, parts_.squares, output);
  if (!parts_.minimum.empty()) {
    accumulator.minimum = parts_.minimum[output];
    accumulator.maximum = parts_.maximum[output];
  }
  accumulator.first_nan = parts_.first_nan[output];
  accumulator.normalize();
  parts_.spills.add_to(output, accumulator);
  return accumulator;
}

WeightedSums AxisTotals::weighted_sums(std::uint64_t output) const {
  const Accumulator sums = accumulator(output);
  WeightedSums weighted{sums.absolute, {}, {}};
  weighted.products.add_narrower(sums.sum);
  weighted.squares.add_narrower(sums.squares);
  parts_.spills.add_products_to(output, weighted);
  weighted.products.normalize();
  weighted.squares.normalize();
  return weighted;
}

void AxisTotals::store(Statistic statistic, const SummaryOptions& options, ElementRange outputs,
                       std::uint64_t first_output, ElementType to, std::byte* out) const {
  const StatisticRow& row = row_of(statistic);
  const std::uint64_t stored = row.along_axes({*this, row, options, outputs, to, out});
  if (stored < outputs.count) throw no_result(row, to, first_output + outputs.first + stored);
}

}  // namespace warpfold
