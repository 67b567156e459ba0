#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/scan/scan_operator.cuh"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

namespace warpfold::cuda::kernels {

/// Calls visitor(operator) for the sum of integers into as many bits or into 32 or 64; says whether
/// there is one.
template <class In, class Visitor>
bool visit_integer_sum(ElementType output, Visitor&& visitor) {
  using Unsigned = std::make_unsigned_t<In>;
  if (!is_integer(output)) return false;
  if (size_of(output) == sizeof(In)) {
    visitor(SumOperator<Unsigned, Unsigned>{});
    return true;
  }
  if constexpr (sizeof(In) < 8) {
    if (size_of(output) == 8) {
      visitor(SumOperator<In, std::uint64_t>{});
      return true;
    }
  }
  if constexpr (sizeof(In) < 4) {
    if (size_of(output) == 4) {
      visitor(SumOperator<In, std::uint32_t>{});
      return true;
    }
  }
  return false;
}

/// Calls visitor(operator) for the operator that scans `input` to `output`; says whether there is
/// one.
template <class Visitor>
bool visit_scan_operator(ElementType input, ElementType output, ScanOperation operation,
                         Visitor&& visitor) {
  return visit_element_type(input, [&](auto element) {
    using In = decltype(element);
    if constexpr (!std::is_arithmetic_v<In>) {
      return false;
    } else {
      if constexpr (std::is_integral_v<In>)
        if (operation == ScanOperation::sum) return visit_integer_sum<In>(output, visitor);
      if (input != output) return false;
      if (operation == ScanOperation::min)
        visitor(ExtremumOperator<In, false>{});
      else if (operation == ScanOperation::max)
        visitor(ExtremumOperator<In, true>{});
      else if constexpr (std::is_floating_point_v<In>)
        visitor(SumOperator<In, In>{});
      return true;
    }
  });
}

}  // namespace warpfold::cuda::kernels
