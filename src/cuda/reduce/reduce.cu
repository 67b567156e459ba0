#include "cuda/reduce/reduce.hpp"

#include <algorithm>
#include <atomic>

#include "core/layout/partition.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda::kernels {
namespace {

std::atomic<Fp64Use> fp64_use = Fp64Use::by_device;

}  // namespace

void set_fp64_use(Fp64Use use) { fp64_use = use; }

bool uses_fp64() {
  const Fp64Use use = fp64_use;
  return use == Fp64Use::by_device ? has_many_fp64_units() : use == Fp64Use::always;
}

int resident_reduce_blocks(ElementType type, ReduceNeeds needs) {
  return visit_element_type(
      type, [&](auto element) { return resident_reduce_blocks_of<decltype(element)>(needs); });
}

int reduce_blocks(std::uint64_t bytes, int resident_blocks) {
  constexpr std::uint64_t bytes_worth_a_block = std::uint64_t{16} << 10;
  const std::uint64_t wanted = std::max<std::uint64_t>(ceil_div(bytes, bytes_worth_a_block), 1);
  return static_cast<int>(std::min<std::uint64_t>(wanted, static_cast<unsigned>(resident_blocks)));
}

void reduce(const ReduceArguments& arguments, cudaStream_t stream) {
  visit_element_type(arguments.format.type,
                     [&](auto element) { reduce_elements<decltype(element)>(arguments, stream); });
}

}  // namespace warpfold::cuda::kernels
