#include "cuda/axis/axis_reduce.hpp"

#include <algorithm>
#include <bit>
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
    const auto order = order_of(value);
    if (min_place_ == no_index || order < least_) {
      least_ = order;
      min_ = value;
      min_place_ = place;
    }
    if (max_place_ == no_index || order > greatest_) {
      greatest_ = order;
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
  using Order = decltype(order_of(Number{}));

  Order least_{};
  Order greatest_{};
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
      : reduce_(reduce), column_(column), sums_(reduce, spiller) {
    sums_.load(column);
  }

  __device__ void take(Number value, std::uint64_t place) {
    if constexpr (kind == ReduceKind::products)
      take_product(value, place);
    else
      take_element(value, place);
  }

  __device__ void store() {
    const AxisColumns& columns = reduce_.columns;
    sums_.store(column_);
    AxisCounts& counts = columns.counts[column_];
    columns.elements[column_] += elements_;
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
  __device__ void take_element(Number value, std::uint64_t place) {
    ++elements_;
    const bool finite = is_finite(value);
    const bool nan = has_extrema() && is_nan(value);
    if (!finite) take_non_finite(value, place);
    if (has_extrema() && !nan) extrema_.take(value, place);
    if constexpr (kind != ReduceKind::extrema) sums_.add(value, finite);
  }

  __device__ void take_non_finite(Number value, std::uint64_t place) {
    is_nan(value) ? take_nan(place) : take_infinity(scaled_number(value, 0).negative);
  }

  __device__ void take_product(Number value, std::uint64_t place) {
    const double found = reduce_.factors(reduce_.indices(place));
    const ComparedDouble factor{std::bit_cast<std::uint64_t>(found)};
    if (is_left_out_mark(found) || (reduce_.factors.are_weights && factor.magnitude() == 0)) return;
    ++elements_;
    if (!is_nan(value)) sums_.add_weight(factor);
    if (is_finite(value) && is_finite(factor)) return sums_.add_product(value, factor);
    const ScaledInteger number = scaled_number(value, 0);
    const bool zero = number.magnitude == 0 || factor.magnitude() == 0;
    if (is_nan(value) || is_nan(factor) || zero) return take_nan(place);
    take_infinity(number.negative != factor.negative());
  }

  __device__ void take_nan(std::uint64_t place) {
    ++nan_;
    if (first_nan_place_ == no_index) first_nan_place_ = place;
  }

  __device__ void take_infinity(bool negative) {
    ++(negative ? negative_infinities_ : positive_infinities_);
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
  ColumnSums<Number, kind> sums_;
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
  for (bool more = true; more && !spiller.full();) {
    const Number value = next;
    const std::uint64_t at = place;
    place += stride;
    more = place < reduce.count;
    if (more) next = elements[place];
    if (reduce.counting == nullptr || reduce.counting[at]) column_reduce.take(value, at);
  }
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

__device__ void clear_column(const AxisColumns& columns, std::uint64_t column) {
  columns.counts[column] = {};
  columns.elements[column] = 0;
  columns.first_nan[column] = no_index;
  if (columns.sum != nullptr) columns.sum[column] = {};
  if (columns.absolute != nullptr) columns.absolute[column] = {};
  if (columns.squares != nullptr) columns.squares[column] = {};
  if (columns.minimum == nullptr) return;
  columns.minimum[column] = Extremum::none();
  columns.maximum[column] = Extremum::none();
}

/// Merges columns `into` + k * stride below `columns`, k > 0, into column `into`, and clears them.
/// Returns false if it didn't get to all.
__device__ bool merge_column(const AxisReduce& reduce, Spiller& spiller, std::uint64_t into,
                             std::uint64_t stride, std::uint64_t columns) {
  const AxisColumns& of = reduce.columns;
  std::uint64_t column = into + stride;
  if (column >= columns) return true;
  ColumnSums<ComparedDouble, ReduceKind::any> sums(reduce, spiller);
  sums.load(into);
  for (; column < columns && !spiller.full(); column += stride) {
    sums.merge(column);
    of.elements[into] += of.elements[column];
    of.counts[into].nan += of.counts[column].nan;
    of.counts[into].positive_infinities += of.counts[column].positive_infinities;
    of.counts[into].negative_infinities += of.counts[column].negative_infinities;
    of.first_nan[into] = min(of.first_nan[into], of.first_nan[column]);
    if (of.minimum != nullptr) {
      of.minimum[into].merge(of.minimum[column]);
      of.maximum[into].merge(of.maximum[column]);
    }
    clear_column(of, column);
  }
  sums.store(into);
  return column >= columns;
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
  if (!merge_column(reduce, spiller, into, stride, reduce.outputs * groups))
    atomicAdd(&reduce.status->stopped, 1ull);
}

/// Writes the expansion of a sum in place of that.
template <class Window>
__device__ void expand(Window* sums, std::uint64_t output, AxisTerm term, Spiller& spiller) {
  if (sums == nullptr) return;
  const Expansion expansion = sums[output].expansion([&](double part) { spiller(term, part); });
  *reinterpret_cast<Expansion*>(&sums[output]) = expansion;
}

__global__ void __launch_bounds__(axis_threads, 2)
    expand_columns_kernel(const __grid_constant__ AxisReduce reduce, const std::uint64_t first) {
  const std::uint64_t output = first + thread_number();
  if (output >= reduce.outputs) return;
  const AxisColumns& columns = reduce.columns;
  Spiller spiller(reduce);
  spiller.begin(output);
  columns.counts[output].elements = columns.elements[output];
  expand(columns.sum, output, AxisTerm::value, spiller);
  expand(columns.absolute, output, AxisTerm::magnitude, spiller);
  expand(columns.squares, output, AxisTerm::square, spiller);
}

__global__ void __launch_bounds__(axis_threads, 2)
    clear_columns_kernel(const AxisColumns columns, const std::uint64_t count) {
  for (std::uint64_t column = thread_number(); column < count; column += thread_count())
    clear_column(columns, column);
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
  visit_wide_type(reduce.wide, [&](auto number) {
    launch_reduce<ColumnNumber<decltype(number)>>(reduce, stream);
  });
}

void merge_columns(const AxisReduce& reduce, cudaStream_t stream) {
  for (std::uint64_t groups = reduce.groups; groups > 1;) {
    const std::uint64_t left = ceil_div(groups, merged_groups);
    launch("starting to merge columns on the GPU", merge_columns_kernel,
           {blocks_for(reduce.outputs * left), axis_threads, stream}, reduce, groups, left);
    groups = left;
  }
}

void expand_columns(const AxisReduce& reduce, std::uint64_t first, cudaStream_t stream) {
  const std::uint64_t outputs = std::min(reduce.outputs - first, max_merging_threads);
  launch("starting to expand sums on the GPU", expand_columns_kernel,
         {blocks_for(outputs), axis_threads, stream}, reduce, first);
}

}  // namespace warpfold::cuda::kernels
