#include "cuda/histogram/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr int histogram_threads = 512;
constexpr int histogram_blocks = 2;  ///< at least, of a multiprocessor: leaves registers enough
constexpr int warp_rows = 8;
constexpr std::uint64_t warp_elements = warp_rows * warp::lanes;
constexpr std::uint64_t max_shared_bytes = std::uint64_t{48} << 10;

constexpr unsigned no_counter = 0xffffffffu;

/// Counters of a block in shared memory: few enough elements come in a launch for 32 bits.
struct BlockCounters {
  unsigned* counters;

  __device__ void add(unsigned counter, unsigned elements) const {
    atomicAdd(counters + counter, elements);
  }
};

struct DeviceCounters {
  unsigned long long* counters;

  __device__ void add(unsigned counter, unsigned elements) const {
    atomicAdd(counters + counter, static_cast<unsigned long long>(elements));
  }
};

/// Counters in shared memory for histograms with more bins than fit there. The block counts the
/// first bin that it meets of those that share a place, most likely the most frequent one. So no
/// counter in device memory takes very many additions, which are serialised.
struct CachedCounters {
  static constexpr unsigned places = 4096;

  unsigned* owners;  ///< no_counter at first
  unsigned* counts;
  DeviceCounters totals;

  __device__ void add(unsigned counter, unsigned elements) const {
    const unsigned place = counter % places;
    unsigned owner = *static_cast<volatile unsigned*>(owners + place);
    if (owner == no_counter) {
      owner = atomicCAS(owners + place, no_counter, counter);
      if (owner == no_counter) owner = counter;
    }
    if (owner == counter)
      atomicAdd(counts + place, elements);
    else
      totals.add(counter, elements);
  }
};

/// Finds the bins of elements of type T.
template <class T>
class BinSearch {
 public:
  __device__ explicit BinSearch(const HistogramBins& bins) : bins_(bins) {}

  __device__ unsigned counter_of(T element) const {
    const Comparable<T> value = comparable(element);
    if (is_nan(value)) return outside(OutsideBins::nan);
    const std::uint64_t key = ordered_key(value);
    if (key < bins_.first_key) return outside(OutsideBins::below);
    if (key >= bins_.end_key) return outside(OutsideBins::above);
    return find_bin(bins_.table, key, bins_.table.cells.cell_of(position(value, key)));
  }

 private:
  __device__ unsigned outside(OutsideBins where) const {
    return static_cast<unsigned>(bins_.count) + static_cast<unsigned>(where);
  }

  __device__ double position(Comparable<T> value, std::uint64_t key) const {
    if constexpr (is_floating_element<T>)
      if (bins_.table.cells.by_value) return static_cast<double>(value);
    return static_cast<double>(key - bins_.first_key);
  }

  const HistogramBins& bins_;
};

/// Makes one addition for the lanes of the warp whose counter is the same.
template <class Counters>
__device__ void count_by_warp(const Counters& counters, unsigned counter) {
  const unsigned peers = warp::match_any(counter);
  if (counter != no_counter && warp::rank_among(peers) == 0)
    counters.add(counter, static_cast<unsigned>(__popc(peers)));
}

template <class T, class Counters>
__device__ void count_elements(const HistogramArguments& arguments, const Counters& counters) {
  const BinSearch<T> search(arguments.bins);
  const auto* words = reinterpret_cast<const Word<T>*>(arguments.elements);
  const std::uint64_t count = arguments.selected == nullptr ? arguments.count : *arguments.selected;
  const bool swapped = arguments.format.order != native_byte_order;
  const std::uint64_t warp_number =
      (std::uint64_t{blockIdx.x} * histogram_threads + threadIdx.x) / warp::lanes;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (histogram_threads / warp::lanes);
  for (std::uint64_t first = warp_number * warp_elements; first < count;
       first += warps * warp_elements) {
    Word<T> word[warp_rows];
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      const std::uint64_t i = first + static_cast<unsigned>(row * warp::lanes + warp::lane());
      word[row] = i < count ? __ldcs(words + i) : Word<T>{0};
    }
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      const std::uint64_t i = first + static_cast<unsigned>(row * warp::lanes + warp::lane());
      const T element = std::bit_cast<T>(swapped ? reversed_bytes(word[row]) : word[row]);
      count_by_warp(counters, i < count ? search.counter_of(element) : no_counter);
    }
  }
}

/// Counts in shared memory first.
template <class T>
__global__ void __launch_bounds__(histogram_threads, histogram_blocks)
    block_histogram_kernel(const HistogramArguments arguments) {
  auto* const block_counters = dynamic_shared<unsigned>();
  const auto counters = static_cast<unsigned>(arguments.bins.count + outside_counters);
  for (unsigned i = threadIdx.x; i < counters; i += histogram_threads) block_counters[i] = 0;
  __syncthreads();
  count_elements<T>(arguments, BlockCounters{block_counters});
  __syncthreads();
  const DeviceCounters totals{arguments.bins.counters};
  for (unsigned i = threadIdx.x; i < counters; i += histogram_threads)
    if (block_counters[i] != 0) totals.add(i, block_counters[i]);
}

template <class T>
__global__ void __launch_bounds__(histogram_threads, histogram_blocks)
    device_histogram_kernel(const HistogramArguments arguments) {
  __shared__ unsigned owners[CachedCounters::places];
  __shared__ unsigned counts[CachedCounters::places];
  for (unsigned i = threadIdx.x; i < CachedCounters::places; i += histogram_threads) {
    owners[i] = no_counter;
    counts[i] = 0;
  }
  __syncthreads();
  const DeviceCounters totals{arguments.bins.counters};
  count_elements<T>(arguments, CachedCounters{owners, counts, totals});
  __syncthreads();
  for (unsigned i = threadIdx.x; i < CachedCounters::places; i += histogram_threads)
    if (counts[i] != 0) totals.add(owners[i], counts[i]);
}

/// Launches as many blocks as the device holds at once, fewer where there are few elements.
template <class Kernel>
void start(Kernel kernel, const HistogramArguments& arguments, std::uint64_t shared_bytes,
           cudaStream_t stream) {
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, histogram_threads,
                                                      shared_bytes),
        "preparing the histogram for this GPU");
  if (arguments.count == 0) return;
  constexpr std::uint64_t worth_a_block = 4 * histogram_threads * warp_rows;
  const std::uint64_t blocks =
      std::min(ceil_div(arguments.count, worth_a_block),
               static_cast<std::uint64_t>(resident) * static_cast<unsigned>(multiprocessors()));
  launch("starting the histogram on the GPU", kernel,
         {blocks, histogram_threads, stream, shared_bytes}, arguments);
}

/// Returns where the edges are, as cells see them.
std::vector<double> positions_of(std::span<const std::uint64_t> keys, bool by_value) {
  std::vector<double> positions(keys.size());
  std::ranges::transform(keys, positions.begin(), [&](std::uint64_t key) {
    return by_value ? std::bit_cast<double>(bits_of_key(key, ElementType::f64))
                    : static_cast<double>(key - keys.front());
  });
  return positions;
}

BinCells cells_of(const std::vector<double>& positions, bool by_value) {
  const auto bins = static_cast<double>(positions.size() - 1);
  const double scale = bins / (positions.back() - positions.front());
  return {by_value, positions.front(), std::isfinite(scale) ? scale : 0, std::max(bins - 1, 0.0)};
}

/// Makes an index in which a bin begins in a cell no later than its values do, and ends in one no
/// earlier.
BinIndex index_of(std::span<const std::uint64_t> keys, bool by_value) {
  const std::vector<double> positions = positions_of(keys, by_value);
  BinIndex index{cells_of(positions, by_value), {}};
  const auto bins = static_cast<std::uint32_t>(keys.size() - 1);
  std::uint32_t bin = 0;
  for (std::uint32_t cell = 0; cell <= bins; ++cell) {
    while (bin + 1 < bins && index.cells.cell_of(positions[bin + 1]) < cell) ++bin;
    index.first_bins.push_back(bin);
  }
  return index;
}

/// Returns how many keys are looked at, of values that are spread over bins as evenly as over
/// cells.
double search_cost(const BinIndex& index) {
  double cost = 0;
  for (std::size_t cell = 0; cell + 1 < index.first_bins.size(); ++cell) {
    const double bins = index.first_bins[cell + 1] - index.first_bins[cell] + 1;
    cost += bins * std::log2(bins + 1);
  }
  return cost;
}

}  // namespace

BinIndex bin_index(ElementType type, std::span<const std::uint64_t> keys) {
  BinIndex by_key = index_of(keys, false);
  if (!is_floating(type)) return by_key;
  BinIndex by_value = index_of(keys, true);
  return search_cost(by_key) < search_cost(by_value) ? by_key : by_value;
}

void histogram(const HistogramArguments& arguments, cudaStream_t stream) {
  const std::uint64_t bytes = (arguments.bins.count + outside_counters) * sizeof(unsigned);
  visit_kernel_type(arguments.format.type, [&](auto element) {
    using T = decltype(element);
    if (bytes <= max_shared_bytes)
      start(block_histogram_kernel<T>, arguments, bytes, stream);
    else
      start(device_histogram_kernel<T>, arguments, 0, stream);
  });
}

}  // namespace warpfold::cuda::kernels
