#include <cmath>
#include <type_traits>

#include "core/scan_arithmetic.hpp"
#include "cuda/cuda_error.hpp"
#include "cuda/kernels/scan_sum_float.hpp"
#include "cuda/kernels/tile.hpp"
#include "cuda/kernels/write_prefixes.hpp"

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

/// What a lane keeps of a row between the two halves of the scan.
template <class Inner>
struct Row {
  Quad<double> x;  ///< scaled; 0 for elements that are not finite
  Inner lanes_below;
  Inner rows_above;
};

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

/// Reads the segment's rows; returns the segment's total.
template <class T, class Inner>
__device__ Inner read_segment(const BlockView& block, const Tile& tile, double scale,
                              Row<Inner> (&rows)[tile_rows]) {
  Inner total = inner_zero(Inner{});
#pragma unroll
  for (int row = 0; row < tile_rows; ++row) {
    rows[row].x = read_scaled<T>(block, tile, place_in_tile(row), scale);
    Inner own;
    inner_set(own, rows[row].x.element[0]);
#pragma unroll
    for (int k = 1; k < lane_elements; ++k) own = inner_add(own, rows[row].x.element[k]);
    const Inner lanes = warp::inclusive_scan(own, InnerAdd<Inner>{});
    const Inner below = warp::shuffle_up(lanes, 1);
    rows[row].lanes_below = warp::lane() == 0 ? inner_zero(Inner{}) : below;
    rows[row].rows_above = total;
    total = inner_add(total, warp::shuffle(lanes, warp::lanes - 1));
  }
  return total;
}

template <class Inner>
__device__ Quad<double> row_prefixes(const Row<Inner>& row, DoublePair base, Inner segments_before,
                                     bool exclusive) {
  const auto lane = scan_order::lane_base(base, segments_before, row.rows_above, row.lanes_below);
  Quad<double> prefixes;
  Inner inner = inner_zero(Inner{});
#pragma unroll
  for (int k = 0; k < lane_elements; ++k) {
    const Inner before = inner;
    if (k == 0)
      inner_set(inner, row.x.element[0]);
    else
      inner = inner_add(inner, row.x.element[k]);
    prefixes.element[k] = scan_order::rounded_prefix(lane, exclusive ? before : inner);
  }
  return prefixes;
}

template <class T, class Inner>
__global__ void __launch_bounds__(tile_threads)
    scan_sum_float_kernel(const BlockView block, const TileStart* starts, const bool exclusive) {
  __shared__ Inner segment_total[scan_order::tile_segments];
  const Tile tile(block);
  const TileStart start = starts[blockIdx.x];
  const scan_order::TileScale scale = scan_order::tile_scale(start.any_huge != 0);
  Row<Inner> rows[tile_rows];
  const Inner total = read_segment<T>(block, tile, scale.down, rows);
  if (warp::lane() == 0) segment_total[warp::index()] = total;
  __syncthreads();
  Inner segments_before = inner_zero(Inner{});
  for (int segment = 0; segment < warp::index(); ++segment)
    segments_before = inner_add(segments_before, segment_total[segment]);

#pragma unroll
  for (int row = 0; row < tile_rows; ++row) {
    const std::int32_t place = place_in_tile(row);
    Quad<double> prefixes = row_prefixes(rows[row], start.base, segments_before, exclusive);
#pragma unroll
    for (int k = 0; k < lane_elements; ++k) {
      const std::int32_t seen = place + k + (exclusive ? 0 : 1);
      prefixes.element[k] =
          scan_order::with_specials(prefixes.element[k] * scale.up, start.first, seen);
    }
    write_prefixes(block, tile, place, prefixes);
  }
}

template <class T>
void launch(const BlockView& block, const TileStart* starts, bool exclusive, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>(block.tiles());
  if (scan_order::sums_in_pairs(block.format.type, block.output_type)) {
    scan_sum_float_kernel<T, DoublePair>
        <<<tiles, tile_threads, 0, stream>>>(block, starts, exclusive);
  } else if constexpr (!std::is_same_v<T, double>) {
    scan_sum_float_kernel<T, double><<<tiles, tile_threads, 0, stream>>>(block, starts, exclusive);
  }
}

}  // namespace

void scan_sum_float(const BlockView& block, const TileStart* starts, bool exclusive,
                    cudaStream_t stream) {
  visit_element_type(block.format.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (is_floating_element<T>) launch<T>(block, starts, exclusive, stream);
  });
  check_launch("starting the scan on the GPU");
}

}  // namespace warpfold::cuda::kernels
