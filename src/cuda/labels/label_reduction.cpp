#include "cuda/labels/label_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {
namespace {

using kernels::label_terms;
using kernels::LabelSums;
using kernels::LabelTable;
using kernels::LabelTerm;

/// The exponents of limbs that an expansion takes.
constexpr int least_exponent = -1074;
constexpr int greatest_exponent = 930;

constexpr std::uint64_t most_limbs = ExactSumOfSquares::limbs;

bool needs_term(const ReduceNeeds& needs, LabelTerm term) {
  if (term == LabelTerm::value) return needs.sum;
  return term == LabelTerm::magnitude ? needs.absolute : needs.squares;
}

struct Memory {
  LabelTable table;
  std::uint32_t* used_limbs;
};

LabelSums take_sums(Scratch& scratch, const LabelTable& table, ElementType values, LabelTerm term) {
  const kernels::LimbRange range =
      kernels::limbs_of(table.floating, values == ElementType::f64, term);
  const auto limbs = static_cast<std::uint64_t>(range.count);
  const auto stride = static_cast<std::uint64_t>(kernels::digit_stride(table.floating, term));
  return {scratch.take<unsigned long long>(table.capacity * stride),
          scratch.take<unsigned long long>(table.capacity * limbs), range};
}

Memory take_memory(Scratch& scratch, ElementType values, const ReduceNeeds& needs,
                   std::uint64_t capacity) {
  LabelTable table{};
  table.capacity = capacity;
  table.copies = LabelReduction::copies_of_few;
  table.floating = is_floating(values);
  table.counts = scratch.take<AxisCounts>(capacity);
  table.first_nan = scratch.take<unsigned long long>(capacity);
  for (int term = 0; term < label_terms; ++term)
    if (needs_term(needs, static_cast<LabelTerm>(term)))
      table.sums[term] = take_sums(scratch, table, values, static_cast<LabelTerm>(term));
  if (needs.extrema) {
    for (int k = 0; k < 2; ++k) {
      table.keys[k] = scratch.take<unsigned long long>(capacity);
      table.places[k] = scratch.take<unsigned long long>(capacity);
    }
  }
  table.window = scratch.take<kernels::LabelWindow>(1);
  table.marks = scratch.take<bool>(kernels::most_launched / kernels::label_tile);
  return {table, scratch.take<std::uint32_t>(most_limbs)};
}

/// Limbs of all labels that any label uses, from the lowest to the highest.
struct UsedLimbs {
  int first = 0;
  std::vector<std::vector<std::int64_t>> rows;  ///< rows of limbs: a word for each label
};

UsedLimbs downloaded_limbs(const LabelTable& table, LabelTerm term, std::uint64_t labels,
                           std::uint32_t* used, cudaStream_t stream) {
  const LabelSums& sums = table.sums[static_cast<int>(term)];
  const auto limbs = static_cast<std::uint64_t>(sums.range.count);
  fill_bytes(used, 0, limbs * sizeof(*used), stream);
  kernels::find_used_limbs(table, term, labels, used, stream);
  const auto flags = downloaded_array<std::uint32_t>(used, limbs, stream);
  const auto first = std::ranges::find(flags, 1u) - flags.begin();
  const auto end = flags.rend() - std::find(flags.rbegin(), flags.rend(), 1u);
  UsedLimbs result{sums.range.first + static_cast<int>(first), {}};
  for (auto limb = first; limb < end; ++limb) {
    const std::uint64_t row = static_cast<std::uint64_t>(limb) * table.capacity;
    result.rows.push_back(downloaded_array<std::int64_t>(sums.limbs + row, labels, stream));
  }
  return result;
}

/// Adds a label's limbs to an expansion; returns false where that has no room for them.
bool expand(const UsedLimbs& limbs, std::uint64_t label, int low_limbs, Expansion& expansion) {
  for (std::size_t row = limbs.rows.size(); row-- > 0;) {
    const std::int64_t word = limbs.rows[row][label];
    if (word == 0) continue;
    const int exponent = 32 * (limbs.first + static_cast<int>(row) - low_limbs);
    if (exponent < least_exponent || exponent > greatest_exponent) return false;
    if (add(expansion, std::ldexp(static_cast<double>(word), exponent)) != 0.0) return false;
  }
  return true;
}

template <class Sum>
Sum sum_of(const UsedLimbs& limbs, std::uint64_t label) {
  Sum sum{};
  for (std::size_t row = 0; row < limbs.rows.size(); ++row)
    sum.limb[static_cast<std::size_t>(limbs.first) + row] = limbs.rows[row][label];
  sum.normalize();
  return sum;
}

/// Makes limbs expansions, and spills where these have no room.
template <class Sum>
std::vector<Expansion> expansions(const UsedLimbs& limbs, std::uint64_t labels, AxisTerm term,
                                  AxisSpills& spills) {
  std::vector<Expansion> sums(labels);
  for (std::uint64_t label = 0; label < labels; ++label) {
    if (expand(limbs, label, Sum::low_limbs, sums[label])) continue;
    sums[label] = {};
    spills.add(label, term, sum_of<Sum>(limbs, label));
  }
  return sums;
}

/// Returns the extremum of an element of a slab.
template <class Element>
Extremum extremum_of(int k, std::uint64_t key, std::uint64_t place) {
  auto value = element_of_dense_key<Element>(static_cast<Word<Element>>(k == 0 ? key : ~key));
  // Both zeros have one key.
  if (is_floating_element<Element> && value == 0 && place % 2 != 0) value = -value;
  const std::uint64_t ordered = ordered_key(value);
  return {k == 0 ? ordered : ~ordered, place / 2, value_bits(value)};
}

std::vector<Extremum> downloaded_extrema(const LabelTable& table, int k, ElementType elements,
                                         std::uint64_t labels, cudaStream_t stream) {
  const auto keys = downloaded_array<std::uint64_t>(table.keys[k], labels, stream);
  const auto places = downloaded_array<std::uint64_t>(table.places[k], labels, stream);
  std::vector<Extremum> extrema(labels, Extremum::none());
  kernels::visit_label_type(elements, [&](auto element) {
    for (std::uint64_t label = 0; label < labels; ++label)
      if (places[label] != no_index)
        extrema[label] = extremum_of<decltype(element)>(k, keys[label], places[label]);
  });
  return extrema;
}

}  // namespace

LabelReduction::LabelReduction(ElementType values, const ReduceNeeds& needs, std::uint64_t capacity)
    : needs_(needs), memory_(device_bytes(values, needs, capacity)) {
  Scratch scratch(memory_.data());
  const Memory memory = take_memory(scratch, values, needs, capacity);
  table_ = memory.table;
  used_limbs_ = memory.used_limbs;
}

std::uint64_t LabelReduction::device_bytes(ElementType values, const ReduceNeeds& needs,
                                           std::uint64_t capacity) {
  Scratch counter;
  take_memory(counter, values, needs, capacity);
  return counter.bytes();
}

void LabelReduction::take(kernels::LabelSlab slab, cudaStream_t stream) {
  elements_ = slab.type;
  const std::uint64_t end = slab.end;
  while (slab.begin < end) {
    slab.end = std::min(end, slab.begin + kernels::most_launched);
    take_part(slab, stream);
    slab.begin = slab.end;
  }
}

void LabelReduction::take_part(const kernels::LabelSlab& part, cudaStream_t stream) {
  const std::uint64_t elements = part.end - part.begin;
  clear_where_unused(stream);
  take_labels(part.labels, stream);
  kernels::choose_window(table_, part, stream);
  // A fold adds to limbs what several elements do.
  unnormalized_ += elements + 16;
  const bool full = unnormalized_ > kernels::most_unnormalized;
  kernels::fold_labels(table_, labels_, full, stream);
  if (full) {
    kernels::normalize_labels(table_, labels_, stream);
    unnormalized_ = elements + 16;
  }
  kernels::sum_labels(table_, part, stream);
  kernels::find_label_extrema(table_, part, stream);
}

void LabelReduction::clear_where_unused(cudaStream_t stream) {
  if (!in_use_) kernels::clear_labels(table_, stream);
  in_use_ = true;
}

void LabelReduction::take_labels(std::uint64_t labels, cudaStream_t stream) {
  if (labels > table_.capacity / table_.copies) merge_copies(stream);
  labels_ = std::max(labels_, labels);
}

/// Goes on with one copy.
void LabelReduction::merge_copies(cudaStream_t stream) {
  kernels::normalize_labels(table_, labels_, stream);
  kernels::merge_copies(table_, labels_, stream);
  table_.copies = 1;
}

AxisParts LabelReduction::finish(std::uint64_t labels, cudaStream_t stream) {
  const auto term_limbs = [&](LabelTerm term) {
    return downloaded_limbs(table_, term, labels, used_limbs_, stream);
  };
  AxisParts parts(needs_, labels);
  if (labels > 0) {
    clear_where_unused(stream);
    kernels::choose_window(table_, {}, stream);
    kernels::fold_labels(table_, labels_, true, stream);
    merge_copies(stream);
    kernels::normalize_labels(table_, labels_, stream);
    parts.counts = downloaded_array<AxisCounts>(table_.counts, labels, stream);
    parts.first_nan = downloaded_array<std::uint64_t>(table_.first_nan, labels, stream);
    if (needs_.sum)
      parts.sum =
          expansions<ExactSum>(term_limbs(LabelTerm::value), labels, AxisTerm::value, parts.spills);
    if (needs_.absolute)
      parts.absolute = expansions<ExactSum>(term_limbs(LabelTerm::magnitude), labels,
                                            AxisTerm::magnitude, parts.spills);
    if (needs_.squares)
      parts.squares = expansions<ExactSumOfSquares>(term_limbs(LabelTerm::square), labels,
                                                    AxisTerm::square, parts.spills);
    if (needs_.extrema) {
      parts.minimum = downloaded_extrema(table_, 0, elements_, labels, stream);
      parts.maximum = downloaded_extrema(table_, 1, elements_, labels, stream);
    }
  }
  table_.copies = LabelReduction::copies_of_few;
  in_use_ = false;
  labels_ = unnormalized_ = 0;
  synchronize(stream);
  return parts;
}

}  // namespace warpfold::cuda
