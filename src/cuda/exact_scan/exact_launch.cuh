#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/exact_scan/aggregates.cuh"
#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/loader.cuh"
#include "cuda/exact_scan/publisher.cuh"
#include "cuda/exact_scan/resolver.cuh"
#include "cuda/exact_scan/row_copy.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/primitives/relaxed.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/fp64.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"

namespace warpfold::cuda::kernels {

struct ExactScanParameters {
  ScannedArray array;
  ExactAggregateRing ring;
  std::uint32_t* full_width_sums;  ///< block_full_width_digits for each block
  ExactCarry carry;
};

__device__ inline std::uint32_t tile_of(std::uint32_t round) {
  return round * gridDim.x + blockIdx.x;
}

/// Returns how many tiles are the block's: one at least.
__device__ inline std::uint32_t rounds_of(std::uint32_t tiles) {
  return (tiles - 1 - blockIdx.x) / gridDim.x + 1;
}

/// Waits until `counter` is above `round`. By a whole warp.
__device__ inline void wait_for_round(const std::uint32_t* counter, std::uint32_t round) {
  while (!warp::all(load_acquire(counter) > round)) __nanosleep(20);
}

/// Counts a round, when all lanes are done with it.
__device__ inline void signal_round(std::uint32_t* counter, std::uint32_t round) {
  __syncwarp();
  if (warp::lane() == 0) store_release(counter, round + 1);
}

/// A barrier of the block that warps come to at different places in the code.
__device__ inline void block_barrier() { __barrier_sync(0); }

// The publisher and the resolver are functions of their own, so that the segment warps, inlined in
// the kernel, get all registers: a function may not use all.

template <class In, class Out, class Arithmetic>
__device__ __forceinline__ void load_sum_and_write_segments(const ScannedArray& array) {
  using Layout = SegmentLayout<In, Out>;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  SegmentLoader<In, Out> loader(array);
  typename Arithmetic::template Writer<In, Out> writer(array);
  typename Arithmetic::template Summer<In, Out> summer;
  loader.initialize();
  loader.start(0, tile_of(0));
  loader.start(1, tile_of(1));
  loader.finish(0);
  summer.find_first_exponent();
  block_barrier();
  block_barrier();
  const std::uint32_t rounds = shared.rounds;
#pragma unroll 1
  for (std::uint32_t step = 0; step < rounds + write_lag; ++step) {
    if (step < rounds) {
      if (step > 0) loader.finish(step);
      summer.sum(step);
      signal_round(&shared.rounds_summed[warp::index()], step);
    }
    if (step >= write_lag) {
      wait_for_round(&shared.rounds_resolved, step - write_lag);
      writer.write(step - write_lag, tile_of(step - write_lag));
    }
    if (step + 1 < rounds) wait_for_round(&shared.windows_chosen, step + 1);
    loader.start(step + 2, tile_of(step + 2));
  }
  wait_for_stores(array);
}

template <class Size>
__device__ __noinline__ void publish_aggregates(const ExactAggregateRing& ring) {
  BlockMemoryOf<Size>& shared = BlockMemoryOf<Size>::own();
  const std::uint32_t* const summed = &shared.rounds_summed[min(warp::lane(), segment_warps() - 1)];
  TilePublisher<Size> publisher(ring);
  block_barrier();
  block_barrier();
#pragma unroll 1
  for (std::uint32_t round = 0; round < shared.rounds; ++round) {
    wait_for_round(summed, round);
    publisher.publish(round);
    signal_round(&shared.rounds_published, round);
  }
}

template <class Size>
__device__ __noinline__ void resolve_tile_prefixes(const ExactAggregateRing& ring,
                                                   const ExactCarry& carry,
                                                   std::uint64_t elements) {
  BlockMemoryOf<Size>& shared = BlockMemoryOf<Size>::own();
  TileResolver<Size> resolver(ring, carry);
  block_barrier();
  resolver.choose_first_windows(elements);
  block_barrier();
  const std::uint32_t rounds = shared.rounds;
#pragma unroll 1
  for (std::uint32_t round = 0; round < rounds; ++round) {
    LaneAggregates read{};
    resolver.load(round, read);
    wait_for_round(&shared.rounds_published, round);
    resolver.resolve(round, read);
    signal_round(&shared.rounds_resolved, round);
    if (round + window_lead >= rounds) continue;
    resolver.choose_window(round + window_lead, round);
    signal_round(&shared.windows_chosen, round + window_lead);
  }
}

/// Scans by one block. By all its threads.
template <class In, class Out, class Arithmetic>
__device__ __forceinline__ void scan_tiles_of_block(const ExactScanParameters& scan) {
  using Layout = SegmentLayout<In, Out>;
  BlockMemoryOf<Layout>& shared = BlockMemoryOf<Layout>::own();
  if (threadIdx.x == 0) {
    shared.rounds = rounds_of(scan.array.tiles);
    shared.ring = scan.ring;
    shared.rounds_published = 0;
    shared.rounds_resolved = 0;
    shared.windows_chosen = window_lead;
    shared.full_width_sums = scan.full_width_sums + blockIdx.x * block_full_width_digits;
  }
  if (threadIdx.x < max_segment_warps) shared.rounds_summed[threadIdx.x] = 0;
  __syncthreads();
  if (warp::index() < segment_warps())
    load_sum_and_write_segments<In, Out, Arithmetic>(scan.array);
  else if (warp::index() == segment_warps())
    publish_aggregates<typename Layout::Size>(scan.ring);
  else
    resolve_tile_prefixes<typename Layout::Size>(scan.ring, scan.carry, scan.array.end);
}

/// Returns whether kernels of two types have code for an architecture: of one arithmetic, which
/// GPUs of others do without, and of a sample of the types where only compilers see them.
template <class In, class Out, class Arithmetic>
constexpr bool has_code(int architecture) {
  return Arithmetic::has_code(architecture) && has_kernels<In> &&
         (has_all_kernels || sizeof(In) == sizeof(Out));
}

/// A kernel of one arithmetic, which may have no code; resident_scan() says so.
template <class In, class Out, class Arithmetic>
__global__ void __launch_bounds__(max_block_threads, 1)
    exact_scan_kernel(const __grid_constant__ ExactScanParameters scan) {
#if defined(__CUDA_ARCH__)
  if constexpr (has_code<In, Out, Arithmetic>(__CUDA_ARCH__))
    scan_tiles_of_block<In, Out, Arithmetic>(scan);
  else
    __trap();
#else
  scan_tiles_of_block<In, Out, Arithmetic>(scan);
#endif
}

/// visitor(In{}, Out{}) for floating-point types; all outputs of 16 bits are AnyFloat16.
template <class Visitor>
void visit_floats(ElementType input, ElementType output, Visitor&& visitor) {
  visit_element_type(input, [&](auto in) {
    visit_element_type(output, [&](auto out) {
      using In = decltype(in);
      using Out = std::conditional_t<sizeof(out) == sizeof(AnyFloat16), AnyFloat16, decltype(out)>;
      if constexpr (is_floating_element<In> && is_floating_element<decltype(out)>)
        visitor(In{}, Out{});
    });
  });
}

/// The parts of the workspace: the ring of aggregates, and each block's sums of segments.
struct Workspace {
  ExactAggregateRing ring;
  std::uint32_t* full_width_sums;

  Workspace(Scratch& scratch, std::uint32_t blocks)
      : ring{scratch.take<AggregateWord>(2 * ExactAggregateRing::word_count(blocks)),
             scratch.take<AggregateWord>(ExactAggregateRing::word_count(blocks)),
             scratch.take<AggregateWord>(ExactAggregateRing::full_width_word_count(blocks)),
             scratch.take<AggregateWord>(ExactAggregateRing::full_width_word_count(blocks)),
             blocks,
             0},
        full_width_sums(
            scratch.take<std::uint32_t>(std::uint64_t{blocks} * block_full_width_digits)) {}
};

/// A scan of one pair of types on the current device.
template <class In, class Out, class Arithmetic>
struct ExactLaunch {
  using Layout = SegmentLayout<In, Out>;
  using Memory = BlockMemoryOf<Layout>;

  static constexpr auto* kernel = &exact_scan_kernel<In, Out, Arithmetic>;

  // Shared memory of a V100 and of a T4.
  static_assert(Memory::bytes(most_segment_warps(700)) <= std::size_t{96} << 10);
  static_assert(Memory::bytes(3) <= std::size_t{64} << 10);

  /// Returns no blocks if the kernel that the device runs has no code.
  static ResidentExactScan resident_scan() {
    const int architecture = compiled_architecture();
    if (!has_code<In, Out, Arithmetic>(architecture)) return {};
    const auto shared =
        static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    int warps = most_segment_warps(architecture);
    while (warps > 1 && Memory::bytes(warps) > shared) --warps;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(Memory::bytes(warps))),
          "preparing the scan on the GPU");
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, kernel, (warps + helper_warps) * warp::lanes, Memory::bytes(warps)),
          "preparing the scan on the GPU");
    return {
        std::min(static_cast<std::uint32_t>(std::min(blocks, 1) * multiprocessors()), max_blocks),
        static_cast<std::uint64_t>(warps * Layout::segment_elements),
        architecture >= 900 && device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9};
  }

  /// Returns the __CUDA_ARCH__ of the kernel that the device runs: 750 or the like.
  static int compiled_architecture() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "preparing the scan on the GPU");
    return 10 * attributes.ptxVersion;
  }

  const ResidentExactScan& resident;
  int warps;  ///< segment warps: as few as the rounds need

  ExactLaunch(std::uint64_t elements, const ResidentExactScan& on)
      : resident(on), warps(static_cast<int>(segments_of_tile(elements, on))) {}

  static std::uint64_t segments_of_tile(std::uint64_t elements, const ResidentExactScan& on) {
    const std::uint64_t segments =
        ceil_div(elements, std::uint64_t{Layout::segment_elements} * on.blocks);
    return ceil_div(segments, ceil_div(segments, on.tile_elements / Layout::segment_elements));
  }

  std::uint64_t tile_elements() const {
    return static_cast<std::uint64_t>(warps) * Layout::segment_elements;
  }

  std::uint32_t epochs(std::uint64_t elements) const {
    const std::uint64_t tiles = ceil_div(elements, tile_elements()) + 1;
    return ring_epochs(ceil_div(tiles, std::uint64_t{resident.blocks}));
  }

  /// The output may begin within a vector: the elements before it do not exist.
  ScannedArray array_of(const BlockView& block, bool exclusive) const {
    const std::uint64_t missing =
        reinterpret_cast<std::uintptr_t>(block.output) % sizeof(uint4) / sizeof(Out);
    const std::uint64_t end = missing + block.elements;
    const std::byte* const input = block.input - missing * sizeof(In);
    ScannedArray array{};
    array.input = input;
    array.output = block.output - missing * sizeof(Out);
    array.first = missing;
    array.end = end;
    array.tiles = static_cast<std::uint32_t>(ceil_div(end, tile_elements()));
    array.whole_begin = missing > 0 ? 1u : 0u;
    array.whole_end = static_cast<std::uint32_t>(end / tile_elements());
    array.input_aligned = reinterpret_cast<std::uintptr_t>(input) % sizeof(uint4) == 0;
    array.swapped = block.format.order != native_byte_order;
    array.exclusive = exclusive;
    array.output_format = Float16Format::of(
        block.output_type == ElementType::bf16 ? BFloat16::mantissa_bits : Float16::mantissa_bits);
    describe_rows(array);
    return array;
  }

  void describe_rows(ScannedArray& array) const {
    const std::uint64_t input_rows = array.end * sizeof(In) / row_bytes;
    const std::uint64_t output_rows = array.end * sizeof(Out) / row_bytes;
    if (!resident.row_copies || array.whole_begin >= array.whole_end ||
        std::max(input_rows, output_rows) > max_rows)
      return;
    array.output_in_rows = true;
    array.output_rows = row_array(array.output, output_rows, Layout::out_rows);
    array.input_in_rows = array.input_aligned;
    if (array.input_in_rows) array.input_rows = row_array(array.input, input_rows, Layout::in_rows);
  }

  void start(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
             std::uint32_t epoch, cudaStream_t stream) const {
    const ScannedArray array = array_of(block, exclusive);
    Scratch scratch(static_cast<std::byte*>(workspace));
    Workspace parts(scratch, resident.blocks);
    parts.ring.blocks =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(array.tiles, resident.blocks));
    parts.ring.first_epoch = epoch;
    const ExactScanParameters scan{array, parts.ring, parts.full_width_sums, carry};
    launch_resident(
        "starting the scan on the GPU", kernel,
        {parts.ring.blocks, (warps + helper_warps) * warp::lanes, stream, Memory::bytes(warps)},
        scan);
  }
};

/// The functions of exact_scan.hpp for one arithmetic, which has a Summer and a Writer.
template <class Arithmetic>
struct ExactScanBy {
  static ResidentExactScan residency(ElementType input, ElementType output) {
    ResidentExactScan resident;
    visit_floats(input, output, [&](auto in, auto out) {
      resident = ExactLaunch<decltype(in), decltype(out), Arithmetic>::resident_scan();
    });
    return resident;
  }

  static std::uint32_t epochs(ElementType input, ElementType output, std::uint64_t elements,
                              const ResidentExactScan& resident) {
    std::uint32_t epochs = 0;
    visit_floats(input, output, [&](auto in, auto out) {
      epochs =
          ExactLaunch<decltype(in), decltype(out), Arithmetic>(elements, resident).epochs(elements);
    });
    return epochs;
  }

  static void start(const BlockView& block, bool exclusive, const ExactCarry& carry,
                    void* workspace, std::uint32_t epoch, const ResidentExactScan& resident,
                    cudaStream_t stream) {
    visit_floats(block.format.type, block.output_type, [&](auto in, auto out) {
      ExactLaunch<decltype(in), decltype(out), Arithmetic>(block.elements, resident)
          .start(block, exclusive, carry, workspace, epoch, stream);
    });
  }
};

/// The functions of ExactScanBy without FP64 arithmetic. There are no resident blocks where the
/// current device has no code for it.
ResidentExactScan integer_scan_residency(ElementType input, ElementType output);
void integer_scan(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
                  std::uint32_t epoch, const ResidentExactScan& resident, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
