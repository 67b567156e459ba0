#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/axis_parts.hpp"
#include "core/values/factors.hpp"
#include "cuda/axis/sum_window.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// Threads of an axis reduction at most.
inline constexpr std::uint64_t max_axis_threads = std::uint64_t{1} << 17;

/// Outputs that one launch expands at most, and columns that others are merged into.
inline constexpr std::uint64_t max_merging_threads = max_axis_threads / 2;

/// A thread's place in a column: it has taken the rows before `row`, except those of the few before
/// it whose bits are set in `far`.
struct ColumnPlace {
  std::uint32_t row;
  std::uint32_t far;
};

/// Results of the columns of a matrix: arrays in device memory with an element for each column.
/// Arrays are null unless the needs ask for them.
struct AxisColumns {
  AxisCounts* counts;       ///< but for elements
  std::uint64_t* elements;  ///< counts of these
  ColumnSum* sum;           ///< sums; once expanded, each begins with an Expansion
  ColumnSum* absolute;
  ColumnSquares* squares;
  Extremum* minimum;
  Extremum* maximum;
  std::uint64_t* first_nan;
  ColumnPlace* places;  ///< places in the slab under way
};

/// In device memory. Spills of a launch come behind those of the ones before.
struct AxisReduceStatus {
  unsigned long long spilled;
  unsigned long long stopped;  ///< columns, as there was no more room for spills
};

/// Returns how many spills one thread leaves at a time: of an element that it reduces and of the
/// column when it stores that, or of a column that it merges or expands.
constexpr std::uint64_t spills_of_element(const ReduceNeeds& needs, bool has_factor) {
  if (has_factor)
    return (needs.sum ? 5u : 0u) + (needs.absolute ? 2u : 0u) + (needs.squares ? 7u : 0u);
  constexpr std::uint64_t of_near_sum = 3;
  constexpr std::uint64_t of_near_squares = 4;
  return (needs.sum ? 2 * of_near_sum + 1 : 0) + (needs.absolute ? 2 * of_near_sum + 1 : 0) +
         (needs.squares ? 2 * of_near_squares + 1 : 0);
}
constexpr std::uint64_t spills_of_column(const ReduceNeeds& needs) {
  constexpr std::uint64_t of_sum = ColumnSum::words + 1;
  constexpr std::uint64_t of_squares = ColumnSquares::words + 1;
  return (needs.sum ? of_sum : 0) + (needs.absolute ? of_sum : 0) +
         (needs.squares ? of_squares : 0);
}

/// Spills: where there are more, threads stop before their next element or column.
inline constexpr std::uint64_t axis_spill_limit = max_axis_threads;

/// Returns the room for those of a launch.
constexpr std::uint64_t axis_spill_capacity(const ReduceNeeds& needs, bool have_factors) {
  const std::uint64_t reduced = max_axis_threads * spills_of_element(needs, have_factors);
  const std::uint64_t merged = max_merging_threads * spills_of_column(needs);
  return axis_spill_limit + (reduced > merged ? reduced : merged);
}

/// A slab in device memory, and what it is reduced into: the element at place p into column
/// p % (outputs * groups). The column's output is the number modulo `outputs`.
struct AxisReduce {
  const std::byte* elements = nullptr;  ///< elements of type `wide`
  const bool* counting = nullptr;       ///< for each element; null: all do
  std::uint64_t count = 0;
  ElementType wide = ElementType::f64;  ///< f64, i64 or u64
  ReduceNeeds needs = {};
  std::uint64_t outputs = 0;
  std::uint64_t groups = 1;  ///< 1, or such that there are max_axis_threads columns at most
  AxisColumns columns = {};
  const BoxIndices* rows = nullptr;  ///< in device memory
  Factors factors = {};              ///< factors of elements, in device memory; without extrema
  BoxIndices indices = {};           ///< flat, of places: what factors go by
  AxisSpill* spills;                 ///< room for axis_spill_capacity()
  AxisReduceStatus* status;
  bool resumed = false;  ///< goes on with the slab where the launch before stopped

  WARPFOLD_HD bool counts(std::uint64_t place) const {
    return counting == nullptr || counting[place];
  }
};

/// Makes the first `count` columns those of no elements.
void clear_columns(const AxisColumns& columns, std::uint64_t count, cudaStream_t stream);

/// Complete once no thread of the last launch has stopped; until then spills have to be taken out
/// of the list, and the reduction resumed.
void reduce_columns(const AxisReduce& reduce, cudaStream_t stream);

/// Merges the columns of each output into the first `outputs` columns. Complete as above; until
/// then it has to be called again.
void merge_columns(const AxisReduce& reduce, cudaStream_t stream);

/// Expands the sums of merged outputs, of at most max_merging_threads from the first one on.
void expand_columns(const AxisReduce& reduce, std::uint64_t first, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
