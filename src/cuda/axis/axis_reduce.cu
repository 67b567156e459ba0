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

/// Blocks of a multiprocessor at a time: where four fit, all max_axis_threads start at once on 128
/// multiprocessors.
constexpr int resident_blocks(ReduceKind kind) {
  return kind == ReduceKind::sum || kind == ReduceKind::extrema ? 4 : 2;
}

/// Groups that one thread merges at a time.
constexpr std::uint64_t merged_groups = 16;

constexpr std::uint32_t no_row = ~0u;

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

/// The extrema of what one thread meets of a column in one launch, in ascending order of rows.
template <class Number>
class ColumnExtrema {
 public:
  __device__ void take(Number value, std::uint32_t row) {
    const auto order = order_of(value);
    if (min_row_ == no_row || order < least_) {
      least_ = order;
      min_ = value;
      min_row_ = row;
    }
    if (max_row_ == no_row || order > greatest_) {
      greatest_ = order;
      maximum_ = value;
      max_row_ = row;
    }
  }

  /// `index_of(row)` is the index of a row of the column.
  template <class IndexOf>
  __device__ void store(const AxisColumns& columns, std::uint64_t column,
                        IndexOf&& index_of) const {
    if (min_row_ == no_row) return;
    columns.minimum[column].merge({ordered_key(min_), index_of(min_row_), value_bits(min_)});
    columns.maximum[column].merge(
        {~ordered_key(maximum_), index_of(max_row_), value_bits(maximum_)});
  }

 private:
  using Order = decltype(order_of(Number{}));

  Order least_{};
  Order greatest_{};
  Number min_{};
  Number maximum_{};
  std::uint32_t min_row_ = no_row;
  std::uint32_t max_row_ = no_row;
};

/// One thread's reduction of its part of a column in one launch.
template <class Number, ReduceKind kind>
class ColumnReduce {
 public:
  /// For at most so many rows.
  __device__ ColumnReduce(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column,
                          std::uint32_t rows)
      : reduce_(reduce), column_(column), sums_(reduce, spiller, column, rows) {}

  /// Takes a row's element, 0 where it does not count; returns false if take_far() has to follow.
  __device__ bool take(Number value, bool counts, std::uint32_t row) {
    elements_ += kind != ReduceKind::products && counts ? 1 : 0;
    if constexpr (kind == ReduceKind::products) {
      return !counts;
    } else if constexpr (kind == ReduceKind::extrema) {
      if (counts && !is_nan(value)) extrema_.take(value, row);
      return is_finite(value);
    } else {
      const bool taken = sums_.add(value);
      if (has_extrema() && counts && (taken || !is_nan(value))) extrema_.take(value, row);
      return taken || is_zero(value);
    }
  }

  __device__ void take_far(Number value, std::uint32_t row) {
    if constexpr (kind == ReduceKind::products) {
      take_product(value, row);
    } else if (!is_finite(value)) {
      is_nan(value) ? take_nan(row) : take_infinity(scaled_number(value).negative);
    } else if constexpr (kind != ReduceKind::extrema) {
      sums_.add_far(value, row);
    }
  }

  __device__ void store() {
    const AxisColumns& columns = reduce_.columns;
    if constexpr (kind != ReduceKind::extrema) sums_.store();
    AxisCounts& counts = columns.counts[column_];
    columns.elements[column_] += elements_;
    if (nan_ != 0) {
      counts.nan += nan_;
      columns.first_nan[column_] = min(columns.first_nan[column_], index_of(first_nan_));
    }
    if (positive_infinities_ != 0) counts.positive_infinities += positive_infinities_;
    if (negative_infinities_ != 0) counts.negative_infinities += negative_infinities_;
    if (has_extrema())
      extrema_.store(columns, column_, [this](std::uint32_t row) { return index_of(row); });
  }

 private:
  __device__ void take_product(Number value, std::uint32_t row) {
    const double found = reduce_.factors(reduce_.indices(place_of(row)));
    const ComparedDouble factor{std::bit_cast<std::uint64_t>(found)};
    if (is_left_out_mark(found) || (reduce_.factors.are_weights && factor.magnitude() == 0)) return;
    ++elements_;
    if (!is_nan(value)) sums_.add_weight(factor);
    if (is_finite(value) && is_finite(factor)) return sums_.add_product(value, factor);
    const ScaledInteger number = scaled_number(value);
    const bool zero = number.magnitude == 0 || factor.magnitude() == 0;
    if (is_nan(value) || is_nan(factor) || zero) return take_nan(row);
    take_infinity(number.negative != factor.negative());
  }

  __device__ void take_nan(std::uint32_t row) {
    ++nan_;
    if (first_nan_ == no_row) first_nan_ = row;
  }

  __device__ void take_infinity(bool negative) {
    ++(negative ? negative_infinities_ : positive_infinities_);
  }

  __device__ bool has_extrema() const {
    return kind == ReduceKind::extrema ||
           (kind == ReduceKind::any && reduce_.columns.minimum != nullptr);
  }

  __device__ std::uint64_t place_of(std::uint32_t row) const {
    return column_ + row * (reduce_.outputs * reduce_.groups);
  }

  __device__ std::uint64_t index_of(std::uint32_t row) const {
    return (*reduce_.rows)(place_of(row) / reduce_.outputs);
  }

  const AxisReduce& reduce_;
  std::uint64_t column_;
  ColumnSums<Number, kind> sums_;
  ColumnExtrema<Number> extrema_;
  std::uint32_t elements_ = 0;
  std::uint32_t nan_ = 0;
  std::uint32_t positive_infinities_ = 0;
  std::uint32_t negative_infinities_ = 0;
  std::uint32_t first_nan_ = no_row;
};

/// Rows that a thread loads at a time.
constexpr std::uint32_t loaded_rows = 4;

/// Reduces a column of `rows` rows from `place` on, to the end or until the list of spills is full.
template <class Number, ReduceKind kind>
__device__ void reduce_column(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column,
                              std::uint32_t rows, ColumnPlace& place) {
  auto [row, far] = place;
  if ((row >= rows && far == 0) || spiller.full()) return;
  const std::uint64_t stride = reduce.outputs * reduce.groups;
  const auto* column_elements = reinterpret_cast<const Number*>(reduce.elements) + column;
  ColumnReduce<Number, kind> column_reduce(reduce, spiller, column, rows);
  for (bool stops = false; !stops;) {
    for (; far != 0 && !stops; far &= far - 1) {
      const std::uint32_t at = row - loaded_rows + trailing_zeros(far);
      column_reduce.take_far(column_elements[at * stride], at);
      stops = spiller.full();
    }
    if (stops || row >= rows) break;
    const auto* elements = column_elements + row * stride;
    Number value[loaded_rows] = {};
    std::uint32_t counted = (1u << loaded_rows) - 1;
    if (rows - row >= loaded_rows && reduce.counting == nullptr) {
#pragma unroll
      for (std::uint32_t i = 0; i < loaded_rows; ++i) value[i] = elements[i * stride];
    } else {
      counted = 0;
#pragma unroll
      for (std::uint32_t i = 0; i < loaded_rows; ++i) {
        if (i >= rows - row || !reduce.counts(column + (row + i) * stride)) continue;
        value[i] = elements[i * stride];
        counted |= 1u << i;
      }
    }
#pragma unroll
    for (std::uint32_t i = 0; i < loaded_rows; ++i)
      if (!column_reduce.take(value[i], (counted >> i & 1) != 0, row + i)) far |= 1u << i;
    row += loaded_rows;
  }
  column_reduce.store();
  place = {row, far};
}

/// `rows` is the greatest number of rows of a column.
template <class Number, ReduceKind kind>
__global__ void __launch_bounds__(axis_threads, resident_blocks(kind))
    reduce_columns_kernel(const __grid_constant__ AxisReduce reduce, const std::uint32_t rows) {
  Spiller spiller(reduce);
  const std::uint64_t columns = reduce.outputs * reduce.groups;
  for (std::uint64_t column = thread_number(); column < columns; column += thread_count()) {
    const std::uint32_t end = column + (rows - 1) * columns < reduce.count ? rows : rows - 1;
    ColumnPlace place = reduce.resumed ? reduce.columns.places[column] : ColumnPlace{};
    spiller.begin(column % reduce.outputs);
    reduce_column<Number, kind>(reduce, spiller, column, end, place);
    reduce.columns.places[column] = place;
    if (place.row < end || place.far != 0) atomicAdd(&reduce.status->stopped, 1ull);
  }
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
  WideSums<ReduceKind::any> sums(reduce, spiller, into);
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
  sums.store();
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
  const std::uint64_t columns = reduce.outputs * reduce.groups;
  const auto rows = static_cast<std::uint32_t>(ceil_div(reduce.count, columns));
  const auto start = [&](const auto& kernel) {
    launch("starting a reduction along axes on the GPU", kernel,
           {blocks_for(columns), axis_threads, stream}, reduce, rows);
  };
  switch (kind_of(reduce)) {
    case ReduceKind::sum:
      return start(reduce_columns_kernel<Number, ReduceKind::sum>);
    case ReduceKind::extrema:
      return start(reduce_columns_kernel<Number, ReduceKind::extrema>);
    case ReduceKind::products:
      return start(reduce_columns_kernel<Number, ReduceKind::products>);
    case ReduceKind::any:
      return start(reduce_columns_kernel<Number, ReduceKind::any>);
  }
}

}  // namespace

void clear_columns(const AxisColumns& columns, std::uint64_t count, cudaStream_t stream) {
  launch("starting a reduction along axes on the GPU", clear_columns_kernel,
         {blocks_for(count), axis_threads, stream}, columns, count);
}

void reduce_columns(const AxisReduce& reduce, cudaStream_t stream) {
  if (reduce.count == 0) return;
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
