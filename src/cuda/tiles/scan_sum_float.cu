#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/scan/scan_arithmetic.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/tiles/certified_scan.cuh"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"
#include "cuda/tiles/write_prefixes.cuh"

namespace warpfold::cuda::kernels {
namespace {

using scan_order::inner_add;
using scan_order::inner_set;
using scan_order::inner_zero;
using scan_order::lane_elements;
using scan_order::tile_rows;

template <class Inner>
struct InnerAdd {
  __device__ Inner operator()(Inner a, Inner b) const { return inner_add(a, b); }
};

/// What a lane knows of a row before it knows what is before the row.
template <class Inner>
struct Row {
  Inner lanes_below;
  Inner total;
};

template <class Inner>
__device__ Row<Inner> scan_row(const Quad<double>& x) {
  Inner own;
  inner_set(own, x.element[0]);
#pragma unroll
  for (int k = 1; k < lane_elements; ++k) own = inner_add(own, x.element[k]);
  const Inner lanes = warp::inclusive_scan(own, InnerAdd<Inner>{});
  const Inner below = warp::shuffle_up(lanes, 1);
  return {warp::lane() == 0 ? inner_zero(Inner{}) : below, warp::shuffle(lanes, warp::lanes - 1)};
}

/// `lane` is what is before the lane's elements `x`.
template <class Inner>
__device__ Quad<double> row_prefixes(const Quad<double>& x, scan_order::LaneBase<Inner> lane,
                                     bool exclusive) {
  Quad<double> prefixes;
  Inner inner = inner_zero(Inner{});
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) {
    const Inner before = inner;
    if (k == 0)
      inner_set(inner, x.element[0]);
    else
      inner = inner_add(inner, x.element[k]);
    prefixes.element[k] = scan_order::rounded_prefix(lane, exclusive ? before : inner);
  }
  return prefixes;
}

/// Returns the sum of the segments before the warp's own. To be called by the whole thread block.
template <class Inner>
__device__ Inner sum_of_segments_before(Inner total,
                                        Inner (&segment_total)[scan_order::tile_segments]) {
  if (warp::lane() == 0) segment_total[warp::index()] = total;
  __syncthreads();
  Inner before = inner_zero(Inner{});
  for (int segment = 0; segment < warp::index(); ++segment)
    before = inner_add(before, segment_total[segment]);
  return before;
}

template <class T>
__device__ Quad<double> widened_quad(const Quad<T>& quad) {
  Quad<double> x;
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) x.element[k] = widened(quad.element[k]);
  return x;
}

/// Lets the compiler think the elements new, so that it widens them again rather than keeping them
/// in twice the registers.
template <class T>
__device__ void make_opaque(Quad<T>& quad) {
  struct Words {
    std::uint32_t word[sizeof(quad) / sizeof(std::uint32_t)];
  };
  auto words = std::bit_cast<Words>(quad);
#pragma unroll
  for (std::uint32_t& word : words.word) asm volatile("" : "+r"(word));
  quad = std::bit_cast<Quad<T>>(words);
}

/// A tile without huge or special elements, in plain doubles.
template <class T, class Out>
__device__ void scan_plain(const BlockView& block, const Tile& tile, const TileStart& start,
                           Quad<T> (&quads)[tile_rows], bool exclusive) {
  __shared__ double segment_total[scan_order::tile_segments];
  __shared__ double row_total[scan_order::tile_segments][tile_rows];
  double lanes_below[tile_rows];
  double total = 0.0;
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const Row<double> row = scan_row<double>(widened_quad(quads[i]));
    lanes_below[i] = row.lanes_below;
    if (warp::lane() == 0) row_total[warp::index()][i] = row.total;
    total += row.total;
  }
  const double before = sum_of_segments_before(total, segment_total);
  double rows_above = 0.0;
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const auto lane = scan_order::lane_base(start.base, before, rows_above, lanes_below[i]);
    make_opaque(quads[i]);
    const Quad<double> prefixes = row_prefixes(widened_quad(quads[i]), lane, exclusive);
    Quad<Out> quad;
#pragma unroll
    for (int k = 0; k < lane_elements; ++k)
      quad.element[k] = finite_element<Out>(prefixes.element[k]);
    write_elements(block, tile, place_in_tile(i), quad);
    rows_above += row_total[warp::index()][i];
  }
}

template <class T>
__device__ Quad<double> read_scaled(const BlockView& block, const Tile& tile, std::int32_t place,
                                    double scale) {
  const Quad<T> quad = read_quad<T>(block, tile, place);
  Quad<double> scaled;
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) {
    const double x = widened(quad.element[k]);
    scaled.element[k] = std::isfinite(x) ? x * scale : 0.0;
  }
  return scaled;
}

/// Any tile. Reads it twice, a warp its own rows only, and each before it is overwritten.
template <class T, class Out, class Inner>
__device__ void scan_any(const BlockView& block, const Tile& tile, const TileStart& start,
                         bool exclusive) {
  __shared__ Inner segment_total[scan_order::tile_segments];
  const scan_order::TileScale scale = scan_order::tile_scale(start.any_huge != 0);
  const auto read_row = [&](int i) {
    return read_scaled<T>(block, tile, place_in_tile(i), scale.down);
  };
  Inner total = inner_zero(Inner{});
#pragma unroll 1
  for (int i = 0; i < tile_rows; ++i) total = inner_add(total, scan_row<Inner>(read_row(i)).total);
  const Inner before = sum_of_segments_before(total, segment_total);
  Inner rows_above = inner_zero(Inner{});
#pragma unroll 1
  for (int i = 0; i < tile_rows; ++i) {
    const std::int32_t place = place_in_tile(i);
    const Quad<double> x = read_row(i);
    const Row<Inner> row = scan_row<Inner>(x);
    const auto lane = scan_order::lane_base(start.base, before, rows_above, row.lanes_below);
    Quad<double> prefixes = row_prefixes<Inner>(x, lane, exclusive);
#pragma unroll
    for (int k = 0; k < lane_elements; ++k) {
      const std::int32_t seen = place + k + (exclusive ? 0 : 1);
      prefixes.element[k] =
          scan_order::with_specials(prefixes.element[k] * scale.up, start.first, seen);
    }
    write_prefixes_as<Out>(block, tile, place, prefixes);
    rows_above = inner_add(rows_above, row.total);
  }
}

__device__ bool is_plain(const TileStart& start) {
  constexpr int none = scan_order::tile_elements;
  return start.any_huge == 0 && start.first.nan == none && start.first.positive_infinity == none &&
         start.first.negative_infinity == none;
}

/// By one thread.
__device__ void put_off_tile(const TileList& put_off, unsigned tile) {
  put_off.tile[atomicAdd(put_off.count, 1u)] = tile;
}

template <class T, class Out>
__global__ void __launch_bounds__(part_threads, 2)
    scan_in_pairs_kernel(const BlockView block, const TileStart* starts, const TileList put_off,
                         const bool exclusive) {
  __shared__ PartStorage storage[part_warps];
  const Tile tile(block);
  const TileStart start = starts[blockIdx.x];
  const auto elements = read_part<T>(block, tile, storage[warp::index()]);
  CertifiedPart::Values values;
#pragma unroll
  for (int k = 0; k < part_elements; ++k) values.element[k] = widened(elements.element[k]);
  if (is_plain(start) &&
      scan_certified<Out>(block, tile, start, values, exclusive, storage[warp::index()]))
    return;
  if (threadIdx.x == 0) put_off_tile(put_off, blockIdx.x);
}

template <class T, class Out>
__global__ void __launch_bounds__(tile_threads, 4)
    scan_in_doubles_kernel(const BlockView block, const TileStart* starts, const TileList put_off,
                           const bool exclusive) {
  const Tile tile(block);
  const TileStart start = starts[blockIdx.x];
  Quad<T> quads[tile_rows];
  read_rows(block, tile, quads);
  if (is_plain(start))
    scan_plain<T, Out>(block, tile, start, quads, exclusive);
  else if (threadIdx.x == 0)
    put_off_tile(put_off, blockIdx.x);
}

/// Enough to fill any GPU; they take turns at the tiles put off, of which there are few.
constexpr std::uint64_t put_off_blocks = 1024;

template <class T, class Out, class Inner>
__global__ void __launch_bounds__(tile_threads)
    scan_put_off_kernel(const BlockView block, const TileStart* starts, const TileList put_off,
                        const bool exclusive) {
  const std::uint32_t count = *put_off.count;
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const std::uint32_t index = put_off.tile[i];
    scan_any<T, Out, Inner>(block, Tile(block, index), starts[index], exclusive);
    __syncthreads();
  }
}

template <class T, class Out>
void start(const BlockView& block, const TileStart* starts, const TileList& put_off, bool exclusive,
           cudaStream_t stream) {
  constexpr bool pairs = std::is_same_v<T, double> || std::is_same_v<Out, double>;
  if constexpr (pairs)
    launch("starting the scan on the GPU", scan_in_pairs_kernel<T, Out>,
           {block.tiles(), part_threads, stream}, block, starts, put_off, exclusive);
  else
    launch("starting the scan on the GPU", scan_in_doubles_kernel<T, Out>,
           {block.tiles(), tile_threads, stream}, block, starts, put_off, exclusive);
  using Inner = std::conditional_t<pairs, DoublePair, double>;
  const std::uint64_t blocks = std::min(block.tiles(), put_off_blocks);
  launch("starting the scan on the GPU", scan_put_off_kernel<T, Out, Inner>,
         {blocks, tile_threads, stream}, block, starts, put_off, exclusive);
}

}  // namespace

void scan_sum_float(const BlockView& block, const TileStart* starts, const TileList& put_off,
                    bool exclusive, cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    visit_element_type(block.output_type, [&](auto output) {
      using T = decltype(element);
      using Out = decltype(output);
      if constexpr (is_floating_element<T> && is_floating_element<Out>)
        start<T, Out>(block, starts, put_off, exclusive, stream);
    });
  });
}

}  // namespace warpfold::cuda::kernels
