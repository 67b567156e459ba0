#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/scan/scan_operator.cuh"
#include "cuda/scan/scan_registers.hpp"
#include "cuda/scan/scan_registers_kernel.cuh"

namespace warpfold::cuda::kernels {
namespace {

/// The fastest on an H200 of those without spilled registers.
template <class Operator>
struct ProductionShape {
  using Output = typename Operator::Output;

  static constexpr bool waits_narrowed =
      sizeof(typename LocalScan<Operator>::Waiting) < sizeof(Output);
  static constexpr int rows = waits_narrowed        ? 12
                              : sizeof(Output) == 8 ? 7
                              : sizeof(Output) == 4 ? 8
                                                    : 6;

  using type = ScanRegistersShape<Operator, rows, 15>;
};

/// A scan of one set of types on the current device.
template <class Operator>
struct RegistersLaunch {
  using Shape = typename ProductionShape<Operator>::type;
  using Input = typename Operator::Input;
  using Output = typename Operator::Output;

  static constexpr auto* kernel = &scan_registers_kernel<Operator, Shape>;

  /// So many warps as the device has shared memory for.
  static int max_warps() {
    constexpr int beside_slots = 1024;
    const auto slots = static_cast<std::size_t>(
        device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - beside_slots);
    return std::min(Shape::max_warps, static_cast<int>(slots / Shape::shared_bytes(1)));
  }

  static ResidentScan resident_scan() {
    const int warps = max_warps();
    int blocks = 0;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(Shape::shared_bytes(warps))),
          "preparing the scan on the GPU");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (warps + 1) * warp::lanes,
                                                        Shape::shared_bytes(warps)),
          "preparing the scan on the GPU");
    return {static_cast<std::uint32_t>(std::min(blocks, 1) * multiprocessors()),
            static_cast<std::uint64_t>(warps * Shape::segment_elements)};
  }

  std::uint32_t max_blocks;
  int warps;  ///< that scan: no more than give every block a tile

  RegistersLaunch(std::uint64_t elements, const ResidentScan& resident)
      : max_blocks(resident.blocks),
        warps(static_cast<int>(
            std::min(ceil_div(elements, std::uint64_t{Shape::segment_elements} * resident.blocks),
                     resident.tile_elements / Shape::segment_elements))) {}

  std::uint64_t tile_elements() const {
    return static_cast<std::uint64_t>(warps) * Shape::segment_elements;
  }

  /// Describes a scan whose output begins within a vector: the elements before it do not exist.
  RegisterScan<Operator> scan_of(const ScanArguments& arguments) const {
    const std::uint64_t missing =
        reinterpret_cast<std::uintptr_t>(arguments.output) % 16 / sizeof(Output);
    const Input* const input = static_cast<const Input*>(arguments.input) - missing;
    const std::uint64_t end = missing + arguments.elements;
    constexpr std::size_t lane_bytes = Shape::lane_elements * sizeof(Input);
    return {
        input,
        static_cast<Output*>(arguments.output) - missing,
        missing,
        end,
        ceil_div(end, tile_elements()),
        reinterpret_cast<std::uintptr_t>(input) % lane_bytes == 0,
        arguments.exclusive,
        carried_value<Operator>(arguments.carry),
        {static_cast<PublishedAggregate<typename Shape::Local::Aggregate>*>(arguments.workspace), 0,
         arguments.epoch}};
  }

  void start(const ScanArguments& arguments, cudaStream_t stream) const {
    RegisterScan<Operator> scan = scan_of(arguments);
    scan.ring.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(scan.tiles, max_blocks));
    launch_resident(
        "starting the scan on the GPU", kernel,
        {scan.ring.blocks, (warps + 1) * warp::lanes, stream, Shape::shared_bytes(warps)}, scan);
  }
};

}  // namespace

ResidentScan scan_registers_resident(ElementType input, ElementType output,
                                     ScanOperation operation) {
  ResidentScan resident;
  visit_scan_operator(input, output, operation, [&](auto scan_operator) {
    resident = RegistersLaunch<decltype(scan_operator)>::resident_scan();
  });
  return resident;
}

std::uint64_t scan_workspace_bytes(std::uint32_t resident_blocks) {
  return AggregateRing<std::uint64_t>::bytes(resident_blocks);
}

std::uint32_t scan_registers_epochs(ElementType input, ElementType output, ScanOperation operation,
                                    std::uint64_t elements, const ResidentScan& resident) {
  std::uint32_t epochs = 0;
  visit_scan_operator(input, output, operation, [&](auto scan_operator) {
    const RegistersLaunch<decltype(scan_operator)> launch(elements, resident);
    const std::uint64_t max_tiles = ceil_div(elements, launch.tile_elements()) + 1;
    epochs = lookback_epochs(ceil_div(max_tiles, std::uint64_t{resident.blocks}));
  });
  return epochs;
}

void scan_registers(ElementType input, ElementType output, ScanOperation operation,
                    const ScanArguments& arguments, const ResidentScan& resident,
                    cudaStream_t stream) {
  if (arguments.elements == 0) return;
  visit_scan_operator(input, output, operation, [&](auto scan_operator) {
    RegistersLaunch<decltype(scan_operator)>(arguments.elements, resident).start(arguments, stream);
  });
}

}  // namespace warpfold::cuda::kernels
