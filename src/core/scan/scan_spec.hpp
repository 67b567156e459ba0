#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/values/byte_order.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// A scan's specification tells what is scanned, and into what.
struct ScanSpec {
  ElementFormat input;
  ScanOperation operation = ScanOperation::sum;
  bool exclusive = false;
  ElementType output = ElementType::f64;  ///< written in native byte order
  OverflowPolicy overflow = OverflowPolicy::error;

  bool operator==(const ScanSpec&) const = default;
};

/// Throws a usage Error for an output type the scan can't have (integers from floats).
void validate(const ScanSpec& spec);

/// Returns the operation's identity: the operation makes of any value and it that value.
template <class T>
T scan_identity(ScanOperation operation) {
  using Limits = std::numeric_limits<std::conditional_t<std::is_integral_v<T>, T, double>>;
  if (operation == ScanOperation::sum) return T{};
  const bool minimum = operation == ScanOperation::min;
  if constexpr (std::is_integral_v<T>) {
    return minimum ? Limits::max() : Limits::lowest();
  } else {
    const double identity = minimum ? Limits::infinity() : -Limits::infinity();
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<T>(identity);
    else
      return T::from_double(identity);
  }
}

/// Returns the bits of an element of that type, in native byte order, that is the operation's
/// identity.
inline std::uint64_t scan_identity_bits(ScanOperation operation, ElementType type) {
  return visit_element_type(type, [operation](auto element) -> std::uint64_t {
    using T = decltype(element);
    return std::bit_cast<Word<T>>(scan_identity<T>(operation));
  });
}

}  // namespace warpfold
