#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"

// A part is scanned by a block of as many threads in three steps: each warp scans its 32 elements,
// one warp scans the warps' sums, each thread adds what is before its warp. The kernels differ in
// how a warp scans.

namespace warpfold::bench::ladder {
namespace {

namespace warp = cuda::warp;

constexpr unsigned part_warps = part_elements / warp::lanes;
static_assert(part_warps == warp::lanes);

// A warp's inclusive scan of its lanes' values.

/// One lane adds for all.
struct SerialScan {
  __device__ static std::uint32_t scan(std::uint32_t value) {
    __shared__ std::uint32_t rows[part_warps][warp::lanes];
    std::uint32_t* row = rows[warp::index()];
    row[warp::lane()] = value;
    __syncwarp();
    if (warp::lane() == 0)
      for (int i = 1; i < warp::lanes; ++i) row[i] += row[i - 1];
    __syncwarp();
    return row[warp::lane()];
  }
};

/// Every lane adds in each of five steps (Kogge and Stone, 1973). Lanes read before any writes, and
/// all write before any reads.
struct KoggeStoneScan {
  __device__ static std::uint32_t scan(std::uint32_t value) {
    __shared__ std::uint32_t rows[part_warps][warp::lanes];
    std::uint32_t* row = rows[warp::index()];
    row[warp::lane()] = value;
    __syncwarp();
    for (int delta = 1; delta < warp::lanes; delta *= 2) {
      if (warp::lane() >= delta) value += row[warp::lane() - delta];
      __syncwarp();
      row[warp::lane()] = value;
      __syncwarp();
    }
    return value;
  }
};

/// Every lane adds in each step without a branch: what lies before the row is zero.
struct PaddedKoggeStoneScan {
  static constexpr int zeros = warp::lanes / 2;

  __device__ static std::uint32_t scan(std::uint32_t value) {
    __shared__ std::uint32_t rows[part_warps][zeros + warp::lanes];
    std::uint32_t* row = rows[warp::index()];
    if (warp::lane() < zeros) row[warp::lane()] = 0;
    std::uint32_t* own = row + zeros + warp::lane();
    *own = value;
    __syncwarp();
    for (int delta = 1; delta < warp::lanes; delta *= 2) {
      value += *(own - delta);
      __syncwarp();
      *own = value;
      __syncwarp();
    }
    return value;
  }
};

/// Every lane adds in each step, in registers.
struct ShuffleScan {
  __device__ static std::uint32_t scan(std::uint32_t value) {
    for (int delta = 1; delta < warp::lanes; delta *= 2) {
      const std::uint32_t below =
          __shfl_up_sync(warp::all_lanes, value, static_cast<unsigned>(delta));
      if (warp::lane() >= delta) value += below;
    }
    return value;
  }
};

/// Scans the values of the block's threads, inclusively: the last thread gets their sum.
template <class WarpScan>
__device__ std::uint32_t scan_block(std::uint32_t value) {
  __shared__ std::uint32_t warp_sums[part_warps];
  value = WarpScan::scan(value);
  if (warp::lane() == warp::lanes - 1) warp_sums[warp::index()] = value;
  __syncthreads();
  if (warp::index() == 0) warp_sums[warp::lane()] = WarpScan::scan(warp_sums[warp::lane()]);
  __syncthreads();
  return warp::index() == 0 ? value : warp_sums[warp::index() - 1] + value;
}

template <class WarpScan>
__global__ void __launch_bounds__(part_elements) scan_parts_kernel(const PartScan scan) {
  const std::uint64_t i = blockIdx.x * part_elements + threadIdx.x;
  const bool present = i < scan.elements;
  const std::uint32_t sum = scan_block<WarpScan>(present ? scan.input[i] : 0);
  if (present) scan.output[i] = sum;
  if (threadIdx.x == part_elements - 1) scan.part_sums[blockIdx.x] = sum;
}

template <class WarpScan>
void launch(const PartScan& scan, cudaStream_t stream) {
  cuda::launch("starting a scan of parts by warps", scan_parts_kernel<WarpScan>,
               {covering_blocks(scan.elements, part_elements), part_elements, stream}, scan);
}

}  // namespace

void scan_parts_serial_warps(const PartScan& scan, cudaStream_t stream) {
  launch<SerialScan>(scan, stream);
}

void scan_parts_kogge_stone(const PartScan& scan, cudaStream_t stream) {
  launch<KoggeStoneScan>(scan, stream);
}

void scan_parts_kogge_stone_padded(const PartScan& scan, cudaStream_t stream) {
  launch<PaddedKoggeStoneScan>(scan, stream);
}

void scan_parts_shuffle(const PartScan& scan, cudaStream_t stream) {
  launch<ShuffleScan>(scan, stream);
}

}  // namespace warpfold::bench::ladder
