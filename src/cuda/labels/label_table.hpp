#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/layout/staged_chunks.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/axis_parts.hpp"
#include "core/results/label_numbers.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// The most elements that a launch takes.
inline constexpr std::uint64_t most_launched = std::uint64_t{1} << 24;

/// The most elements that digits take before they are folded into limbs, and these normalized.
inline constexpr std::uint64_t most_unnormalized = std::uint64_t{1} << 29;

/// Elements that share a mark: those that a warp takes at a time.
inline constexpr std::uint64_t label_tile = 256;

enum class LabelTerm : int { value, magnitude, square };
inline constexpr int label_terms = 3;

inline constexpr int label_digit_bits = 32;

/// Returns how many digits of a sum of elements are kept apart from its limbs.
template <class Element>
constexpr int label_digits(LabelTerm term) {
  if (std::is_integral_v<Element>) return term == LabelTerm::square ? 4 : 2;
  return term == LabelTerm::square ? 5 : sizeof(Element) == sizeof(float) ? 3 : 4;
}

/// Returns how many words lie between the digits of neighbouring labels.
WARPFOLD_HD constexpr int digit_stride(bool floating, LabelTerm term) {
  return (floating ? 4 : 2) * (term == LabelTerm::square ? 2 : 1);
}

struct LimbRange {
  int first;
  int count;
};

/// Returns the limbs that sums of values of a type need: of an ExactSum, for squares of an
/// ExactSumOfSquares. `wide` floats are f64.
constexpr LimbRange limbs_of(bool floating, bool wide, LabelTerm term) {
  const bool square = term == LabelTerm::square;
  if (!floating) return square ? LimbRange{68, 7} : LimbRange{34, 5};
  if (wide) return {0, square ? ExactSumOfSquares::limbs : ExactSum::limbs};
  return square ? LimbRange{58, 23} : LimbRange{29, 13};
}

/// Sums of one term in device memory; null where the needs don't ask for it.
struct LabelSums {
  unsigned long long* digits;  ///< [label][digit_stride()]
  unsigned long long* limbs;   ///< [limb][capacity], signed: copy by copy
  LimbRange range;
};

/// The binary exponents that digits of floats are for, in device memory: of the greatest elements.
/// Digits are those of `present` until they are folded.
struct LabelWindow {
  int present;
  int next;
};

/// Totals of labels, in device memory. Integers are added to them by atomics, in any order.
struct LabelTable {
  std::uint64_t capacity;  ///< labels
  /// Copies of limbs, each for capacity / copies labels: fewer additions meet.
  std::uint32_t copies;
  bool floating;
  AxisCounts* counts;
  unsigned long long* first_nan;
  LabelSums sums[label_terms];
  /// The minimum's and the maximum's: the dense_key() of a slab's element or its complement, and
  /// twice its index, plus 1 where the element has a sign. Null unless the needs ask for them.
  unsigned long long* keys[2];
  unsigned long long* places[2];
  LabelWindow* window;
  bool* marks;  ///< for each tile of a slab: whether it may have extrema
};

/// A slab in device memory: the element at place p is one of label numbers[p % places].
struct LabelSlab {
  const std::byte* elements;
  ElementType type;      ///< f32, f64, i64 or u64, native
  const bool* counting;  ///< for each element; null: all do
  const std::uint32_t* numbers;
  std::uint64_t places;
  std::uint64_t begin;   ///< place of the first element that is reduced
  std::uint64_t end;     ///< place behind the last, at most most_launched further
  std::uint64_t labels;  ///< numbers are below, or no_label
  BoxIndices indices;    ///< flat, of places
};

/// Calls `visitor` with a value-initialised object of a LabelSlab's type.
template <class Visitor>
decltype(auto) visit_label_type(ElementType type, Visitor&& visitor) {
  if (type == ElementType::i64) return visitor(std::int64_t{});
  if (type == ElementType::u64) return visitor(std::uint64_t{});
  if (type == ElementType::f32) return visitor(float{});
  return visitor(double{});
}

/// Makes all totals those of no elements.
void clear_labels(const LabelTable& table, cudaStream_t stream);

/// Chooses the window for a slab's floats by a sample of them.
void choose_window(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream);

/// Folds digits of the first `labels` into limbs, `always` or where another window was chosen.
void fold_labels(const LabelTable& table, std::uint64_t labels, bool always, cudaStream_t stream);

/// Propagates carries of all copies: every limb but the top one ends in [-2^31, 2^31).
void normalize_labels(const LabelTable& table, std::uint64_t labels, cudaStream_t stream);

/// Adds the other copies of normalized limbs to the first one, and clears them.
void merge_copies(const LabelTable& table, std::uint64_t labels, cudaStream_t stream);

/// Sets used[limb - range.first] to 1 where a label has such a limb in the first copy.
void find_used_limbs(const LabelTable& table, LabelTerm term, std::uint64_t labels,
                     std::uint32_t* used, cudaStream_t stream);

/// Adds a slab's elements to counts and sums, behind choose_window() and fold_labels().
void sum_labels(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream);

/// Merges a slab's extrema.
void find_label_extrema(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream);

/// Have the kernels for elements of a type loaded.
void load_label_sums(ElementType type);
void load_label_extrema(ElementType type);
void load_label_folds();

}  // namespace warpfold::cuda::kernels
