#include "cuda/quantiles/key_table.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned key_threads = 256;

/// Keys are found as integers that atomics take.
template <class Key>
using Found = std::conditional_t<sizeof(Key) == 8, unsigned long long, std::uint32_t>;

template <class Key>
constexpr Key greatest_key = static_cast<Key>(~Key{0});

__device__ std::uint64_t key_thread() {
  return std::uint64_t{blockIdx.x} * key_threads + threadIdx.x;
}

template <class Value, class Stored>
__device__ void gather_all(const StoredElements& stored, const KeyTable& table,
                           std::uint64_t first) {
  using Key = Word<Value>;
  const auto* elements = reinterpret_cast<const Stored*>(stored.elements);
  auto* const keys = reinterpret_cast<Key*>(table.keys) + first;
  const bool swapped = stored.format.order != native_byte_order;
  const Mask& mask = stored.decoding.mask;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * key_threads;
  for (std::uint64_t i = key_thread(); i < stored.count; i += threads) {
    const Stored element = swapped ? byte_swapped(elements[i]) : elements[i];
    Value value;
    const bool counts = decode(stored.decoding, element, value) &&
                        (mask.selects_all() || mask.selects(stored.indices(i)));
    const bool nan = is_nan(comparable(value));
    keys[i] = counts && !nan ? dense_key(value) : greatest_key<Key>;
    if (!counts)
      atomicAdd(table.left_out + i % table.outputs, 1u);
    else if (nan)
      atomicAdd(table.nan + i % table.outputs, 1u);
  }
}

template <class Stored>
__global__ void __launch_bounds__(key_threads)
    gather_kernel(const __grid_constant__ StoredElements stored,
                  const __grid_constant__ KeyTable table, std::uint64_t first) {
  visit_value_of<Stored>(stored.decoding.unpacking, [&](auto value) {
    gather_all<decltype(value), Stored>(stored, table, first);
  });
}

/// The share of a table that a warp has: each takes some columns, side by side, in some of the
/// rows, for one fraction. Warps of the same columns and rows follow one another, and find them in
/// the cache.
struct SearchShare {
  std::uint32_t columns;  ///< lanes side by side: a power of two
  std::uint64_t tiles;    ///< parts of the columns
  std::uint64_t splits;   ///< parts of the rows
  std::uint64_t rows;     ///< rows of a split: a multiple of those that a warp reads at a time
  std::uint64_t warps;
};

SearchShare share_of(const KeySearch& search) {
  constexpr std::uint64_t warps_of_multiprocessor = 128;
  constexpr std::uint64_t least_rows_of_lane = 64;
  const KeyTable& table = search.table;
  SearchShare share{};
  share.columns = static_cast<std::uint32_t>(
      std::bit_ceil(std::min<std::uint64_t>(table.outputs, warp::lanes)));
  share.tiles = ceil_div(table.outputs, share.columns);
  const std::uint64_t rows_at_once = warp::lanes / share.columns;
  const std::uint64_t wanted =
      ceil_div(warps_of_multiprocessor * static_cast<std::uint64_t>(multiprocessors()),
               share.tiles * search.count);
  const std::uint64_t most = ceil_div(table.rows, least_rows_of_lane * rows_at_once);
  share.rows = round_up(ceil_div(table.rows, std::min(wanted, most)), rows_at_once);
  share.splits = ceil_div(table.rows, share.rows);
  share.warps = share.tiles * share.splits * search.count;
  return share;
}

/// A lane's part of a table: every step-th row from `row` to `end` of a column.
struct LanePart {
  std::uint64_t search;  ///< number of the search: of a fraction, in a column
  double fraction;
  std::uint64_t column;
  std::uint64_t row;
  std::uint64_t end;  ///< no rows where there is no such column
  std::uint64_t step;

  __device__ LanePart(const KeySearch& of, const SearchShare& share, std::uint64_t warp_number) {
    const std::uint64_t number = warp_number % of.count;
    const std::uint64_t part = warp_number / of.count;
    const auto lane = static_cast<std::uint32_t>(warp::lane());
    fraction = of.fractions[number];
    column = part % share.tiles * share.columns + lane % share.columns;
    search = number * of.table.outputs + column;
    const std::uint64_t first = part / share.tiles * share.rows;
    row = first + lane / share.columns;
    step = warp::lanes / share.columns;
    end = column < of.table.outputs ? min(first + share.rows, of.table.rows) : 0;
  }

  __device__ bool empty() const { return row >= end; }

  /// Calls take(key) for each of its keys.
  template <class Key, class Take>
  __device__ void for_each_key(const KeyTable& table, Take&& take) const {
    const Key* at = reinterpret_cast<const Key*>(table.keys) + row * table.outputs + column;
    const std::uint64_t stride = step * table.outputs;
#pragma unroll 8
    for (std::uint64_t i = row; i < end; i += step, at += stride) take(*at);
  }
};

__device__ std::uint64_t numbers_of(const KeyTable& table, std::uint64_t column) {
  return table.rows - table.left_out[column] - table.nan[column];
}

__device__ std::uint64_t warp_number() { return key_thread() / warp::lanes; }

/// Combines the values of lanes of the same column, in each of them.
template <class Combine, class T>
__device__ T of_column(T value, const SearchShare& share, Combine combine) {
  for (std::uint32_t bit = share.columns; bit < warp::lanes; bit *= 2)
    value = combine(value, warp::shuffle_xor(value, static_cast<int>(bit)));
  return value;
}

__device__ bool speaks_for_column(const SearchShare& share) {
  return static_cast<std::uint32_t>(warp::lane()) < share.columns;
}

/// Counts the keys below pivots: those that continue the bits found so far by 1, 2, ... at `shift`.
template <class Key>
__global__ void __launch_bounds__(key_threads)
    count_kernel(const __grid_constant__ KeySearch search,
                 const __grid_constant__ SearchShare share, int shift) {
  const std::uint64_t warp_at = warp_number();
  if (warp_at >= share.warps) return;
  const LanePart part(search, share, warp_at);
  const auto* const found = reinterpret_cast<const Found<Key>*>(search.lower);
  const Found<Key> prefix = part.empty() ? 0 : found[part.search];
  Found<Key> pivot[pivots_of_round];
  std::uint32_t below[pivots_of_round] = {};
#pragma unroll
  for (std::uint32_t p = 0; p < pivots_of_round; ++p)
    pivot[p] = prefix | Found<Key>{p + 1} << shift;
  part.for_each_key<Key>(search.table, [&](Found<Key> key) {
#pragma unroll
    for (std::uint32_t p = 0; p < pivots_of_round; ++p) below[p] += key < pivot[p] ? 1 : 0;
  });
#pragma unroll
  for (std::uint32_t p = 0; p < pivots_of_round; ++p) {
    const std::uint32_t all = of_column(below[p], share, warp::Plus{});
    if (speaks_for_column(share) && all != 0)
      atomicAdd(search.below + p * search.searches() + part.search, all);
  }
}

/// Continues the bits found so far by those at `shift`, of which there are `bits`.
template <class Key>
__global__ void __launch_bounds__(key_threads)
    narrow_kernel(const __grid_constant__ KeySearch search, int shift, int bits) {
  const std::uint64_t i = key_thread();
  if (i >= search.searches()) return;
  const std::uint64_t numbers = numbers_of(search.table, i % search.table.outputs);
  std::uint64_t order = 0;
  if (numbers > 0)
    order = quantile_neighbours(search.fractions[i / search.table.outputs], search.method, numbers)
                .lower;
  Found<Key> digit = 0;
#pragma unroll
  for (std::uint32_t p = 0; p < pivots_of_round; ++p) {
    std::uint32_t& below = search.below[p * search.searches() + i];
    if (p + 1 < 1u << bits && below <= order) ++digit;
    below = 0;
  }
  reinterpret_cast<Found<Key>*>(search.lower)[i] |= digit << shift;
}

/// Finds the least keys above those found, and counts those that are not above.
template <class Key>
__global__ void __launch_bounds__(key_threads)
    above_kernel(const __grid_constant__ KeySearch search,
                 const __grid_constant__ SearchShare share) {
  const std::uint64_t warp_at = warp_number();
  if (warp_at >= share.warps) return;
  const LanePart part(search, share, warp_at);
  const auto* const found = reinterpret_cast<const Found<Key>*>(search.lower);
  const Found<Key> lower = part.empty() ? 0 : found[part.search];
  std::uint32_t not_above = 0;
  Found<Key> least = greatest_key<Found<Key>>;
  part.for_each_key<Key>(search.table, [&](Found<Key> key) {
    if (key <= lower)
      ++not_above;
    else
      least = min(least, key);
  });
  not_above = of_column(not_above, share, warp::Plus{});
  least = of_column(least, share, [](auto a, auto b) { return min(a, b); });
  if (!speaks_for_column(share) || part.empty()) return;
  atomicAdd(search.below + part.search, not_above);
  atomicMin(reinterpret_cast<Found<Key>*>(search.upper) + part.search, least);
}

/// Puts the keys found in the place of those above where as many are equal to them.
template <class Key>
__global__ void __launch_bounds__(key_threads)
    settle_kernel(const __grid_constant__ KeySearch search) {
  const std::uint64_t i = key_thread();
  if (i >= search.searches()) return;
  const std::uint64_t numbers = numbers_of(search.table, i % search.table.outputs);
  if (numbers == 0) return;
  const QuantileNeighbours between =
      quantile_neighbours(search.fractions[i / search.table.outputs], search.method, numbers);
  if (search.below[i] > between.upper)
    reinterpret_cast<Found<Key>*>(search.upper)[i] =
        reinterpret_cast<const Found<Key>*>(search.lower)[i];
}

constexpr const char* starting = "starting a search for quantiles on the GPU";

std::uint64_t blocks_of(std::uint64_t threads) { return ceil_div(threads, key_threads); }

template <class Key>
void search_all(const KeySearch& search, cudaStream_t stream) {
  constexpr int key_bits = 8 * sizeof(Key);
  const SearchShare share = share_of(search);
  const std::uint64_t searches = search.searches();
  const Launch scanning{blocks_of(share.warps * warp::lanes), key_threads, stream};
  const Launch settling{blocks_of(searches), key_threads, stream};
  fill_bytes(search.lower, 0, searches * sizeof(Found<Key>), stream);
  fill_bytes(search.below, 0, pivots_of_round * searches * sizeof(std::uint32_t), stream);
  for (int shift = round_up(key_bits, bits_of_round) - bits_of_round; shift >= 0;
       shift -= bits_of_round) {
    const int bits = std::min(bits_of_round, key_bits - shift);
    launch(starting, count_kernel<Key>, scanning, search, share, shift);
    launch(starting, narrow_kernel<Key>, settling, search, shift, bits);
  }
  if (search.upper == nullptr) return;
  fill_bytes(search.upper, 0xff, searches * sizeof(Found<Key>), stream);
  launch(starting, above_kernel<Key>, scanning, search, share);
  launch(starting, settle_kernel<Key>, settling, search);
}

/// Calls visitor(Key{}) with the type of a value type's keys.
template <class Visitor>
void visit_key_type(ElementType values, Visitor&& visitor) {
  visit_element_type(values, [&](auto value) { visitor(Word<decltype(value)>{}); });
}

}  // namespace

void load_gathering(ElementType stored) {
  visit_kernel_type(stored, [](auto element) { load_kernel(gather_kernel<decltype(element)>); });
}

void load_search(ElementType values) {
  visit_key_type(values, [](auto key) {
    using Key = decltype(key);
    load_kernel(count_kernel<Key>);
    load_kernel(narrow_kernel<Key>);
    load_kernel(above_kernel<Key>);
    load_kernel(settle_kernel<Key>);
  });
}

void gather_keys(const StoredElements& stored, const KeyTable& table, std::uint64_t first_row,
                 cudaStream_t stream) {
  constexpr std::uint64_t most_blocks = 1 << 14;
  if (stored.count == 0) return;
  visit_kernel_type(stored.format.type, [&](auto element) {
    launch("starting to gather keys on the GPU", gather_kernel<decltype(element)>,
           {std::min(blocks_of(ceil_div(stored.count, std::uint64_t{4})), most_blocks), key_threads,
            stream},
           stored, table, first_row * table.outputs);
  });
}

void search_keys(const KeySearch& search, cudaStream_t stream) {
  if (search.table.rows == 0 || search.searches() == 0) return;
  visit_key_type(search.table.values, [&](auto key) { search_all<decltype(key)>(search, stream); });
}

}  // namespace warpfold::cuda::kernels
