#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/scan/one_pass_kernels.hpp"
#include "cuda/scan/scan_bulk_kernel.cuh"
#include "cuda/scan/scan_operator.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr std::size_t copy_alignment = 16;

/// Says how many elements lie before the first that is aligned to bulk copies.
std::uint64_t unaligned_elements(const void* array, std::size_t element_bytes) {
  const auto past = reinterpret_cast<std::uintptr_t>(array) % copy_alignment;
  return (copy_alignment - past) % copy_alignment / element_bytes;
}

template <class Operator>
inline constexpr bool is_sum = false;
template <class In, class Out>
inline constexpr bool is_sum<SumOperator<In, Out>> = true;

/// Tunings as measured on an H200. Tiles by their output.
template <class Operator>
struct InPlace {
  static constexpr std::uint32_t tile_bytes = 32 * 1024;
  static constexpr int stages = 7;
  static constexpr int reducers = is_sum<Operator> && sizeof(typename Operator::Input) > 1 ? 2 : 4;
  static constexpr int scanners = 8;
  static constexpr int buffers = 0;
};
template <class Operator>
struct Widening {
  static constexpr std::uint32_t tile_bytes = 48 * 1024;
  static constexpr int stages = std::min<int>(
      8, 128 * 1024 /
             (tile_bytes / sizeof(typename Operator::Output) * sizeof(typename Operator::Input)));
  static constexpr int reducers = 4;
  static constexpr int scanners = 12;
  static constexpr int buffers = 2;
};

template <class Operator>
struct BulkLaunch {
  using Tuning =
      std::conditional_t<sizeof(typename Operator::Input) == sizeof(typename Operator::Output),
                         InPlace<Operator>, Widening<Operator>>;
  using Shape = BulkShape<Operator, Tuning>;
  using Scan = BulkScan<Operator, typename Shape::Part>;
  using Input = typename Operator::Input;
  using Output = typename Operator::Output;

  static constexpr int shared_bytes = sizeof(typename Shape::Shared);

  static constexpr auto* kernel = &scan_bulk_kernel<Operator, Tuning>;

  static void start(const ScanArguments& arguments, std::uint32_t resident_blocks,
                    cudaStream_t stream) {
    const std::uint64_t head =
        std::min(arguments.elements, unaligned_elements(arguments.input, sizeof(Input)));
    const std::uint64_t elements = arguments.elements - head;
    const std::uint64_t tiles =
        std::max<std::uint64_t>(1, ceil_div(elements, std::uint64_t{Shape::tile_elements}));
    const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles, resident_blocks));
    const Scan scan{static_cast<const Input*>(arguments.input) + head,
                    static_cast<Output*>(arguments.output) + head,
                    elements,
                    static_cast<std::uint32_t>(head),
                    arguments.exclusive,
                    carried_value<Operator>(arguments.carry),
                    {static_cast<PublishedAggregate<typename Shape::Part>*>(arguments.workspace),
                     blocks, arguments.epoch}};
    launch_resident("starting the scan on the GPU", kernel,
                    {blocks, Shape::threads, stream, shared_bytes}, scan);
  }
};

}  // namespace

bool scan_bulk_applies(ElementType input_type, ElementType output_type, const void* input,
                       const void* output) {
  const std::size_t input_bytes = size_of(input_type);
  const std::size_t output_bytes = size_of(output_type);
  return unaligned_elements(input, input_bytes) % (copy_alignment / output_bytes) ==
         unaligned_elements(output, output_bytes);
}

std::uint32_t scan_bulk_resident_blocks(ElementType input, ElementType output,
                                        ScanOperation operation) {
  if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 9) return 0;
  const int shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int blocks = 0;
  visit_scan_operator(input, output, operation, [&](auto scan_operator) {
    using Launch = BulkLaunch<decltype(scan_operator)>;
    if (Launch::shared_bytes > shared_bytes) return;
    check(cudaFuncSetAttribute(Launch::kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               Launch::shared_bytes),
          "preparing the scan on the GPU");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, Launch::kernel, Launch::Shape::threads, Launch::shared_bytes),
          "preparing the scan on the GPU");
  });
  return static_cast<std::uint32_t>(blocks * multiprocessors());
}

std::uint32_t scan_bulk_epochs(ElementType input, ElementType output, ScanOperation operation,
                               std::uint64_t elements, std::uint32_t resident_blocks) {
  std::uint32_t epochs = 0;
  visit_scan_operator(input, output, operation, [&](auto scan_operator) {
    const std::uint64_t tile_elements = BulkLaunch<decltype(scan_operator)>::Shape::tile_elements;
    const std::uint64_t tiles = ceil_div(elements, tile_elements);
    epochs = lookback_epochs(ceil_div(tiles, std::uint64_t{resident_blocks}));
  });
  return epochs;
}

void scan_bulk(ElementType input, ElementType output, ScanOperation operation,
               const ScanArguments& arguments, std::uint32_t resident_blocks, cudaStream_t stream) {
  if (arguments.elements == 0) return;
  visit_scan_operator(input, output, operation, [&](auto scan_operator) {
    BulkLaunch<decltype(scan_operator)>::start(arguments, resident_blocks, stream);
  });
}

}  // namespace warpfold::cuda::kernels
