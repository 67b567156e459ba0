#include "cuda/reduce/reduce.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "core/layout/partition.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/fp64.hpp"
#include "cuda/runtime/kernel_types.hpp"

namespace warpfold::cuda::kernels {
namespace {

std::atomic<Fp64Use> fp64_use = Fp64Use::by_device;

/// Is compiled for the architectures that all kernels are compiled for.
__global__ void architecture_kernel() {}

}  // namespace

int code_architecture() {
  static std::array<std::atomic<int>, 64> known{};  // 0: not yet
  const auto device = static_cast<std::size_t>(current_device());
  if (device < known.size() && known[device] != 0) return known[device];
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, architecture_kernel),
        "preparing the reduction for this GPU");
  const int architecture = 10 * attributes.ptxVersion;
  if (device < known.size()) known[device] = architecture;
  return architecture;
}

void set_fp64_use(Fp64Use use) { fp64_use = use; }

bool uses_fp64() {
  const Fp64Use use = fp64_use;
  const bool preferred = use == Fp64Use::by_device ? has_many_fp64_units() : use == Fp64Use::always;
  return preferred ? compiles_with_fp64(code_architecture())
                   : !compiles_without_fp64(code_architecture());
}

int resident_reduce_blocks(ElementType type, ReduceNeeds needs) {
  return visit_kernel_type(
      type, [&](auto element) { return resident_reduce_blocks_of<decltype(element)>(needs); });
}

int reduce_blocks(std::uint64_t bytes, int resident_blocks) {
  constexpr std::uint64_t bytes_worth_a_block = std::uint64_t{16} << 10;
  const std::uint64_t wanted = std::max<std::uint64_t>(ceil_div(bytes, bytes_worth_a_block), 1);
  return static_cast<int>(std::min<std::uint64_t>(wanted, static_cast<unsigned>(resident_blocks)));
}

void reduce(const ReduceArguments& arguments, cudaStream_t stream) {
  visit_kernel_type(arguments.format.type,
                    [&](auto element) { reduce_elements<decltype(element)>(arguments, stream); });
}

}  // namespace warpfold::cuda::kernels
