#include "cuda/reduce/reduce.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/layout/partition.hpp"
#include "cuda/runtime/device.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda::kernels {

Arithmetic suitable_arithmetic() {
  const char* const variable = std::getenv("WARPFOLD_SUMS");
  const std::string_view chosen = variable == nullptr ? "" : variable;
  if (chosen == "integers") return Arithmetic::integers;
  if (chosen == "doubles") return Arithmetic::doubles;
  if (!chosen.empty())
    throw usage_error("WARPFOLD_SUMS is '" + std::string(chosen) + "'",
                      "it names the arithmetic of sums on a GPU",
                      "Set it to doubles or integers, or unset it.");
  constexpr int most = 4;  // f32 operations in the time of an FP64 one
  return device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) > most ? Arithmetic::integers
                                                                              : Arithmetic::doubles;
}

int resident_reduce_blocks(ElementType type, ReduceNeeds needs, Arithmetic arithmetic) {
  return visit_element_type(type, [&](auto element) {
    return resident_reduce_blocks_of<decltype(element)>(needs, arithmetic);
  });
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
