#include "cuda/axis/axis_reduce.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/axis/column_sums.cuh"
#include "cuda/chunks/decode_elements.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned axis_threads = 256;

/// Groups that one thread merges at a time.
constexpr std::uint64_t merged_groups = 16;

ReduceKind kind_of(const AxisReduce& reduce) {
  const ReduceNeeds& needs = reduce.needs;
  if (reduce.factors.any()) return ReduceKind::products;
  if (needs.absolute || needs.squares || needs.sum == needs.extrema) return ReduceKind::any;
  return needs.sum ? ReduceKind::sum : ReduceKind::extrema;
}

__device__ std::uint64_t thread_number() {
  return std::uint64_t{blockIdx.x} * axis_threads + threadIdx.x;
}

__device__ std::uint64_t thread_count() { return std::uint64_t{gridDim.x} * axis_threads; }

/// The extrema of what one thread meets of a column in one launch, in ascending order of places.
template <class Number>
class ColumnExtrema {
 public:
  __device__ void take(Number value, std::uint64_t place) {
    if (min_place_ == no_index || value < min_) {
      min_ = value;
      min_place_ = place;
    }
    if (max_place_ == no_index || value > maximum_) {
      maximum_ = value;
      max_place_ = place;
    }
  }

  /// `row_of(place)` is the index of the place's row.
  template <class RowOf>
  __device__ void store(const AxisColumns& columns, std::uint64_t column, RowOf&& row_of) const {
    if (min_place_ == no_index) return;
    columns.minimum[column].merge({ordered_key(min_), row_of(min_place_), value_bits(min_)});
    columns.maximum[column].merge(
        {~ordered_key(maximum_), row_of(max_place_), value_bits(maximum_)});
  }

 private:
  Number min_{};
  Number maximum_{};
  std::uint64_t min_place_ = no_index;
  std::uint64_t max_place_ = no_index;
};

/// One thread's reduction of its part of a column in one launch.
template <class Number, ReduceKind kind>
class ColumnReduce {
 public:
  __device__ ColumnReduce(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column)
      : reduce_(reduce), column_(column), sums_(reduce.columns, spiller) {
    sums_.load(column);
  }

  __device__ void take(Number value, std::uint64_t place) {
    if constexpr (kind == ReduceKind::products) return take_product(value, place);
    ++elements_;
    if constexpr (std::is_floating_point_v<Number>) {
      if (value != value) return take_nan(place);
    }
    if (has_extrema()) extrema_.take(value, place);
    if constexpr (std::is_floating_point_v<Number>) {
      if (!is_finite(value)) return take_infinity(value);
    }
    if constexpr (kind != ReduceKind::extrema) sums_.add(value);
  }

  __device__ void store() const {
    const AxisColumns& columns = reduce_.columns;
    sums_.store(column_);
    AxisCounts& counts = columns.counts[column_];
    counts.elements += elements_;
    if (nan_ != 0) {
      counts.nan += nan_;
      columns.first_nan[column_] = min(columns.first_nan[column_], row_of(first_nan_place_));
    }
    if (positive_infinities_ != 0) counts.positive_infinities += positive_infinities_;
    if (negative_infinities_ != 0) counts.negative_infinities += negative_infinities_;
    if (has_extrema())
      extrema_.store(columns, column_, [this](std::uint64_t place) { return row_of(place); });
  }

 private:
  __device__ void take_product(Number value, std::uint64_t place) {
    const double factor = reduce_.factors(reduce_.indices(place));
    if (reduce_.factors.leaves_out(factor)) return;
    ++elements_;
    const auto x = static_cast<double>(value);
    if (x == x) sums_.add_weight(factor);
    if (is_finite(x) && is_finite(factor)) return sums_.add_product(value, factor);
    const double product = x * factor;
    product == product ? take_infinity(product) : take_nan(place);
  }

  __device__ void take_nan(std::uint64_t place) {
    ++nan_;
    if (first_nan_place_ == no_index) first_nan_place_ = place;
  }

  __device__ void take_infinity(double value) {
    ++(value > 0 ? positive_infinities_ : negative_infinities_);
  }

  __device__ static bool is_finite(double value) {
    return fabs(value) < std::numeric_limits<double>::infinity();
  }

  __device__ bool has_extrema() const {
    return kind == ReduceKind::extrema ||
           (kind == ReduceKind::any && reduce_.columns.minimum != nullptr);
  }

  __device__ std::uint64_t row_of(std::uint64_t place) const {
    return (*reduce_.rows)(place / reduce_.outputs);
  }

  const AxisReduce& reduce_;
  std::uint64_t column_;
  ColumnSums<kind> sums_;
  ColumnExtrema<Number> extrema_;
  std::uint32_t elements_ = 0;
  std::uint32_t nan_ = 0;
  std::uint32_t positive_infinities_ = 0;
  std::uint32_t negative_infinities_ = 0;
  std::uint64_t first_nan_place_ = no_index;
};

/// Reduces the column's elements from `place` on; returns the first place that it didn't get to.
template <class Number, ReduceKind kind>
__device__ std::uint64_t reduce_column(const AxisReduce& reduce, Spiller& spiller,
                                       std::uint64_t column, std::uint64_t place) {
  const std::uint64_t stride = reduce.outputs * reduce.groups;
  if (place >= reduce.count || spiller.full()) return place;
  const auto* elements = reinterpret_cast<const Number*>(reduce.elements);
  ColumnReduce<Number, kind> column_reduce(reduce, spiller, column);
  Number next = elements[place];
  do {
    const Number value = next;
    const std::uint64_t at = place;
    place += stride;
    if (place < reduce.count) next = elements[place];
    if (reduce.counting == nullptr || reduce.counting[at]) column_reduce.take(value, at);
  } while (place < reduce.count && !spiller.full());
  column_reduce.store();
  return place;
}

template <class Number, ReduceKind kind>
__global__ void __launch_bounds__(axis_threads, 2)
    reduce_columns_kernel(const __grid_constant__ AxisReduce reduce) {
  Spiller spiller(reduce);
  const std::uint64_t columns = reduce.outputs * reduce.groups;
  bool stopped = false;
  for (std::uint64_t column = thread_number(); column < columns; column += thread_count()) {
    std::uint64_t& next_place = reduce.columns.next_place[column];
    const std::uint64_t first = reduce.resumed ? next_place : column;
    spiller.begin(column % reduce.outputs);
    const std::uint64_t place = reduce_column<Number, kind>(reduce, spiller, column, first);
    next_place = place;
    stopped |= place < reduce.count;
  }
  if (stopped) atomicAdd(&reduce.status->stopped, 1ull);
}

/// Merges columns `into` + k * stride below `columns`, k > 0, into column `into`.
__device__ void merge_column(const AxisReduce& reduce, Spiller& spiller, std::uint64_t into,
                             std::uint64_t stride, std::uint64_t columns) {
  const AxisColumns& of = reduce.columns;
  ColumnSums<ReduceKind::any> sums(of, spiller);
  sums.load(into);
  for (std::uint64_t column = into + stride; column < columns; column += stride) {
    sums.merge(column);
    of.counts[into].elements += of.counts[column].elements;
    of.counts[into].nan += of.counts[column].nan;
    of.counts[into].positive_infinities += of.counts[column].positive_infinities;
    of.counts[into].negative_infinities += of.counts[column].negative_infinities;
    of.first_nan[into] = min(of.first_nan[into], of.first_nan[column]);
    if (of.minimum == nullptr) continue;
    of.minimum[into].merge(of.minimum[column]);
    of.maximum[into].merge(of.maximum[column]);
  }
  sums.store(into);
}

/// Merges `groups` groups of columns into the first ones, which are `left`.
__global__ void __launch_bounds__(axis_threads, 2)
    merge_columns_kernel(const __grid_constant__ AxisReduce reduce, const std::uint64_t groups,
                         const std::uint64_t left) {
  const std::uint64_t stride = reduce.outputs * left;
  const std::uint64_t into = thread_number();
  if (into >= stride) return;
  Spiller spiller(reduce);
  spiller.begin(into % reduce.outputs);
  merge_column(reduce, spiller, into, stride, reduce.outputs * groups);
}

__global__ void __launch_bounds__(axis_threads, 2)
    clear_columns_kernel(const AxisColumns columns, const std::uint64_t count) {
  for (std::uint64_t column = thread_number(); column < count; column += thread_count()) {
    columns.counts[column] = {};
    columns.first_nan[column] = no_index;
    if (columns.sum != nullptr) columns.sum[column] = {};
    if (columns.absolute != nullptr) columns.absolute[column] = {};
    if (columns.squares != nullptr) columns.squares[column] = {};
    if (columns.minimum == nullptr) continue;
    columns.minimum[column] = Extremum::none();
    columns.maximum[column] = Extremum::none();
  }
}

std::uint64_t blocks_for(std::uint64_t columns) {
  return ceil_div(std::min(columns, max_axis_threads), std::uint64_t{axis_threads});
}

template <class Number>
void launch_reduce(const AxisReduce& reduce, cudaStream_t stream) {
  const std::uint64_t blocks = blocks_for(reduce.outputs * reduce.groups);
  switch (kind_of(reduce)) {
    case ReduceKind::sum:
      return launch("starting a reduction along axes on the GPU",
                    reduce_columns_kernel<Number, ReduceKind::sum>, {blocks, axis_threads, stream},
                    reduce);
    case ReduceKind::extrema:
      return launch("starting a reduction along axes on the GPU",
                    reduce_columns_kernel<Number, ReduceKind::extrema>,
                    {blocks, axis_threads, stream}, reduce);
    case ReduceKind::products:
      return launch("starting a reduction along axes on the GPU",
                    reduce_columns_kernel<Number, ReduceKind::products>,
                    {blocks, axis_threads, stream}, reduce);
    case ReduceKind::any:
      return launch("starting a reduction along axes on the GPU",
                    reduce_columns_kernel<Number, ReduceKind::any>, {blocks, axis_threads, stream},
                    reduce);
  }
}

}  // namespace

void clear_columns(const AxisColumns& columns, std::uint64_t count, cudaStream_t stream) {
  launch("starting a reduction along axes on the GPU", clear_columns_kernel,
         {blocks_for(count), axis_threads, stream}, columns, count);
}

void reduce_columns(const AxisReduce& reduce, cudaStream_t stream) {
  visit_wide_type(reduce.wide,
                  [&](auto number) { launch_reduce<decltype(number)>(reduce, stream); });
}

void merge_columns(const AxisReduce& reduce, cudaStream_t stream) {
  for (std::uint64_t groups = reduce.groups; groups > 1;) {
    const std::uint64_t left = ceil_div(groups, merged_groups);
    launch("starting to merge columns on the GPU", merge_columns_kernel,
           {blocks_for(reduce.outputs * left), axis_threads, stream}, reduce, groups, left);
    groups = left;
  }
}

}  // namespace warpfold::cuda::kernels
