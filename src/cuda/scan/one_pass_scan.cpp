#include "cuda/scan/one_pass_scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "core/scan/scan_spec.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

std::string names_of(ElementType input, ElementType output, ScanOperation operation) {
  return std::string(name_of(operation)) + " of " + std::string(name_of(input)) + " to " +
         std::string(name_of(output));
}

/// Returns the bits of what precedes the first element; of the identity where nothing does.
std::uint64_t carry_bits(ElementType output, ScanOperation operation, const void* before) {
  if (before == nullptr) return scan_identity_bits(operation, output);
  std::uint64_t bits = 0;
  visit_element_type(output, [&](auto element) {
    using Out = decltype(element);
    if constexpr (std::is_arithmetic_v<Out>) {
      element = *static_cast<const Out*>(before);
      if (element != element) element = std::numeric_limits<Out>::quiet_NaN();
      std::memcpy(&bits, &element, sizeof(element));
    }
  });
  return bits;
}

}  // namespace

bool OnePassScan::supports(ElementType input, ElementType output, ScanOperation operation) {
  if (is_floating(input) || operation != ScanOperation::sum)
    return input == output && (is_integer(input) || size_of(input) >= 4);
  return is_integer(output) && (size_of(output) == size_of(input) ||
                                size_of(output) >= std::max<std::size_t>(size_of(input), 4));
}

OnePassScan::OnePassScan(ElementType input, ElementType output, ScanOperation operation)
    : input_(input), output_(output), operation_(operation) {
  if (!supports(input, output, operation))
    throw Error("no one-pass scan does the " + names_of(input, output, operation),
                "it keeps an element's type, or widens integers of a sum to 32 or 64 bits",
                "Choose another output type.");
  resident_ = kernels::scan_registers_resident(input, output, operation);
  if (resident_.blocks == 0)
    throw Error("the GPU holds no block of the " + names_of(input, output, operation),
                "its multiprocessors have too little shared memory or too few registers",
                "Use `backend` cpu.");
  workspace_ = DeviceBuffer(kernels::scan_workspace_bytes(resident_.blocks));
}

void OnePassScan::start(const void* input, void* output, std::uint64_t elements, bool exclusive,
                        const void* before, cudaStream_t stream) {
  if (elements == 0) return;
  const auto [epoch, needs_clearing] = epochs_.take(
      kernels::scan_registers_epochs(input_, output_, operation_, elements, resident_));
  if (needs_clearing) fill_bytes(workspace_.data(), 0, workspace_.size(), stream);
  const kernels::ScanArguments arguments{input,
                                         output,
                                         elements,
                                         exclusive,
                                         carry_bits(output_, operation_, before),
                                         workspace_.data(),
                                         epoch};
  kernels::scan_registers(input_, output_, operation_, arguments, resident_, stream);
}

}  // namespace warpfold::cuda
