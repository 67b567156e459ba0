#pragma once

#include <string>
#include <type_traits>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

#ifdef WARPFOLD_SAMPLE_KERNELS
inline constexpr bool has_all_kernels = false;
#else
inline constexpr bool has_all_kernels = true;
#endif

/// Tells whether kernels for elements of type T are compiled. A sample has integers of each size,
/// and floats but one.
template <class T>
inline constexpr bool has_kernels = has_all_kernels ||
                                    (is_floating_element<T>
                                         ? !std::is_same_v<T, BFloat16>
                                         : std::is_signed_v<T> ==
                                               (sizeof(T) == 2 || sizeof(T) == 8));

/// Calls `visitor` as visit_element_type() does. Throws an Error for a type without kernels.
template <class Visitor>
decltype(auto) visit_kernel_type(ElementType type, Visitor&& visitor) {
  return visit_element_type(type, [&](auto element) -> decltype(visitor(double{})) {
    if constexpr (has_kernels<decltype(element)>)
      return visitor(element);
    else
      throw Error("cannot use the GPU for " + std::string(name_of(type)),
                  "this build has kernels for a sample of types",
                  "Build with -DWARPFOLD_SAMPLE_KERNELS=OFF.");
  });
}

}  // namespace warpfold::cuda
