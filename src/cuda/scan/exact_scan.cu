#include "cuda/scan/exact_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"
#include "cuda/scan/exact_lookback.cuh"
#include "cuda/scan/exact_records.cuh"
#include "cuda/scan/exact_segment.cuh"
#include "cuda/scan/exact_shape.cuh"

namespace warpfold::cuda::kernels {

struct ExactScanParameters {
  ScannedArray array;
  ExactRecords records;
  std::uint32_t* digits;  ///< block_segment_digits for each block
  ExactCarry carry;
};

__device__ inline std::uint32_t tile_of(std::uint32_t round) {
  return round * gridDim.x + blockIdx.x;
}

/// Says how many tiles are the block's: one at least.
__device__ inline std::uint32_t rounds_of(std::uint32_t tiles) {
  return (tiles - 1 - blockIdx.x) / gridDim.x + 1;
}

/// Waits until `counter` is above `round`. By a whole warp.
__device__ inline void wait_for(const std::uint32_t* counter, std::uint32_t round) {
  while (!warp::all(load_acquire(counter) > round)) __nanosleep(20);
}

/// Counts a round, when all lanes are done with it.
__device__ inline void count_round(std::uint32_t* counter, std::uint32_t round) {
  __syncwarp();
  if (warp::lane() == 0) store_release(counter, round + 1);
}

/// A barrier of the block that warps come to at different places in the code.
__device__ inline void meet_block() { __barrier_sync(0); }

// The helpers' roles are called, so that their registers are not those of the role that is many
// warps': that is part of the kernel, as a function may not use all registers.

template <class In, class Out>
__device__ __forceinline__ void scan_segments(const ScannedArray& array) {
  TileMemory<ExactShape<In, Out>>& tile = TileMemory<ExactShape<In, Out>>::own();
  SegmentPort<In, Out> port(array);
  SegmentScanner<In, Out> segment(array);
  port.begin();
  port.fetch(0, tile_of(0));
  port.fetch(1, tile_of(1));
  port.arrive(0);
  segment.begin();
  meet_block();
  meet_block();
  const std::uint32_t rounds = tile.rounds;
#pragma unroll 1
  for (std::uint32_t step = 0; step < rounds + exact_lag; ++step) {
    if (step < rounds) {
      if (step > 0) port.arrive(step);
      segment.sum(step);
      count_round(&tile.summed[warp::index()], step);
    }
    if (step >= exact_lag) {
      wait_for(&tile.resolved, step - exact_lag);
      segment.write(step - exact_lag, tile_of(step - exact_lag));
    }
    if (step + 1 < rounds) wait_for(&tile.windows, step + 1);
    port.fetch(step + 2, tile_of(step + 2));
  }
  port.finish();
}

template <class Shape>
__device__ __noinline__ void publish_tiles(const ExactRecords& records) {
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  const std::uint32_t* const summed = &tile.summed[min(warp::lane(), segment_warps() - 1)];
  TilePublisher<Shape> publisher(records);
  meet_block();
  meet_block();
#pragma unroll 1
  for (std::uint32_t round = 0; round < tile.rounds; ++round) {
    wait_for(summed, round);
    publisher.publish(round);
    count_round(&tile.published, round);
  }
}

template <class Shape>
__device__ __noinline__ void resolve_tiles(const ExactRecords& records, const ExactCarry& carry) {
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  meet_block();
  TileResolver<Shape> resolver(records, carry);
  meet_block();
#pragma unroll 1
  for (std::uint32_t round = 0; round < tile.rounds; ++round) {
    LaneRecords read{};
    resolver.load(round, read);
    wait_for(&tile.published, round);
    resolver.resolve(round, read);
    count_round(&tile.resolved, round);
    resolver.choose_window(round + window_lead, round);
    count_round(&tile.windows, round + window_lead);
  }
}

template <class In, class Out>
__global__ void __launch_bounds__(max_block_threads, 1)
    exact_scan_kernel(const __grid_constant__ ExactScanParameters scan) {
  using Shape = ExactShape<In, Out>;
  TileMemory<Shape>& tile = TileMemory<Shape>::own();
  if (threadIdx.x == 0) {
    tile.rounds = rounds_of(scan.array.tiles);
    tile.published = 0;
    tile.resolved = 0;
    tile.windows = window_lead;
    tile.digits = scan.digits + blockIdx.x * block_segment_digits;
  }
  if (threadIdx.x < max_segment_warps) tile.summed[threadIdx.x] = 0;
  __syncthreads();
  if (warp::index() < segment_warps())
    scan_segments<In, Out>(scan.array);
  else if (warp::index() == segment_warps())
    publish_tiles<typename Shape::Segment>(scan.records);
  else
    resolve_tiles<typename Shape::Segment>(scan.records, scan.carry);
}

namespace {

/// Calls visitor(In{}, Out{}) for floating-point types; all outputs of 16 bits are one.
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

/// What blocks leave for one another, and what they keep for themselves.
struct Workspace {
  RecordWord* words;
  RecordWord* lower_words;
  RecordWord* digit_words;
  std::uint32_t* segment_digits;

  Workspace(Scratch& scratch, std::uint32_t blocks)
      : words(scratch.take<RecordWord>(2 * ExactRecords::word_count(blocks))),
        lower_words(scratch.take<RecordWord>(ExactRecords::word_count(blocks))),
        digit_words(scratch.take<RecordWord>(ExactRecords::digit_word_count(blocks))),
        segment_digits(scratch.take<std::uint32_t>(std::uint64_t{blocks} * block_segment_digits)) {}
};

/// A scan of one pair of types on the current device.
template <class In, class Out>
struct ExactLaunch {
  using Shape = ExactShape<In, Out>;
  using Memory = TileMemory<Shape>;

  static constexpr auto* kernel = &exact_scan_kernel<In, Out>;

  static ResidentScan resident_scan() {
    const auto shared =
        static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    int warps = max_segment_warps;
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
        static_cast<std::uint64_t>(warps * Shape::segment_elements), has_row_copies()};
  }

  /// Whether the device can copy rows, and the kernel was compiled for such.
  static bool has_row_copies() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "preparing the scan on the GPU");
    return attributes.ptxVersion >= 90 && device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  }

  const ResidentScan& resident;
  int warps;  ///< that sum segments: no more than give every block a tile

  ExactLaunch(std::uint64_t elements, const ResidentScan& on)
      : resident(on),
        warps(static_cast<int>(
            std::min(ceil_div(elements, std::uint64_t{Shape::segment_elements} * on.blocks),
                     on.tile_elements / Shape::segment_elements))) {}

  std::uint64_t tile_elements() const {
    return static_cast<std::uint64_t>(warps) * Shape::segment_elements;
  }

  std::uint32_t epochs(std::uint64_t elements) const {
    const std::uint64_t tiles = ceil_div(elements, tile_elements()) + 1;
    return record_epochs(ceil_div(tiles, std::uint64_t{resident.blocks}));
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
    array.output_rows = row_array(array.output, output_rows, Shape::out_rows);
    array.input_in_rows = array.input_aligned;
    if (array.input_in_rows) array.input_rows = row_array(array.input, input_rows, Shape::in_rows);
  }

  void start(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
             std::uint32_t epoch, cudaStream_t stream) const {
    const ScannedArray array = array_of(block, exclusive);
    Scratch scratch(static_cast<std::byte*>(workspace));
    const Workspace parts(scratch, resident.blocks);
    const auto blocks =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(array.tiles, resident.blocks));
    const ExactScanParameters scan{
        array,
        {parts.words, parts.lower_words, parts.digit_words, blocks, epoch},
        parts.segment_digits,
        carry};
    launch_resident("starting the scan on the GPU", kernel,
                    {blocks, (warps + helper_warps) * warp::lanes, stream, Memory::bytes(warps)},
                    scan);
  }
};

}  // namespace

ResidentScan exact_scan_resident(ElementType input, ElementType output) {
  ResidentScan resident;
  visit_floats(input, output, [&](auto in, auto out) {
    resident = ExactLaunch<decltype(in), decltype(out)>::resident_scan();
  });
  return resident;
}

std::uint64_t exact_scan_workspace_bytes(std::uint32_t resident_blocks) {
  Scratch scratch;
  Workspace(scratch, resident_blocks);
  return scratch.bytes();
}

std::uint32_t exact_scan_epochs(ElementType input, ElementType output, std::uint64_t elements,
                                const ResidentScan& resident) {
  std::uint32_t epochs = 0;
  visit_floats(input, output, [&](auto in, auto out) {
    epochs = ExactLaunch<decltype(in), decltype(out)>(elements, resident).epochs(elements);
  });
  return epochs;
}

void exact_scan(const BlockView& block, bool exclusive, const ExactCarry& carry, void* workspace,
                std::uint32_t epoch, const ResidentScan& resident, cudaStream_t stream) {
  visit_floats(block.format.type, block.output_type, [&](auto in, auto out) {
    ExactLaunch<decltype(in), decltype(out)>(block.elements, resident)
        .start(block, exclusive, carry, workspace, epoch, stream);
  });
}

}  // namespace warpfold::cuda::kernels
