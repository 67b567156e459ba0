#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda/labels/label_digits.cuh"

namespace warpfold::cuda::kernels {

/// Adds to a limb of a label, in the block's copy.
__device__ inline void add_to_limb(const LabelTable& table, LabelTerm term, std::uint32_t label,
                                   int limb, std::int64_t addend) {
  const LabelSums& sums = table.sums[static_cast<int>(term)];
  const auto row = static_cast<std::uint64_t>(limb - sums.range.first);
  const std::uint64_t copy = blockIdx.x % table.copies * (table.capacity / table.copies);
  atomicAdd(sums.limbs + row * table.capacity + copy + label,
            static_cast<unsigned long long>(addend));
}

/// Adds a float that digits have no room for.
template <LabelTerm term>
__device__ __noinline__ void add_to_limbs(const LabelTable& table, std::uint32_t label,
                                          double value) {
  label_limbs(term, scaled_integer(value), [&](int limb, std::int64_t addend) {
    add_to_limb(table, term, label, limb, addend);
  });
}

/// Adds a float's square, of any size.
__device__ __noinline__ inline void add_square_to_limbs(const LabelTable& table,
                                                        std::uint32_t label, double value) {
  ExactSumOfSquares::square_digits(value, [&](int limb, std::int64_t addend) {
    add_to_limb(table, LabelTerm::square, label, limb, addend);
  });
}

__device__ inline bool is_finite_float(double value) {
  return fabs(value) < std::numeric_limits<double>::infinity();
}

/// One thread's way from elements to digits of a term's sum.
template <class Element, LabelTerm term>
class TermDigits {
 public:
  static constexpr bool floating = std::is_floating_point_v<Element>;
  static constexpr int count = label_digits(floating, term);
  using Digits = LabelDigits<count>;

  __device__ explicit TermDigits(const LabelTable& table)
      : table_(table),
        window_(term_exponent(term, floating ? table.window->next : 0)),
        limit_(term == LabelTerm::square ? bound_of_roots(table.window->next) : window_.limit()) {}

  /// Returns the digits of an element; what they have no room for goes to limbs.
  __device__ Digits of(Element element, std::uint32_t label) const {
    Digits digits = Digits::none();
    if constexpr (term == LabelTerm::square)
      take_square(static_cast<double>(element), label, digits);
    else
      take(static_cast<double>(element), label, digits);
    return digits;
  }

 private:
  /// Returns a bound of elements whose squares the window takes, as exact pairs.
  __device__ static double bound_of_roots(int exponent) {
    if (exponent < -458) return 0x1p-458;
    return exponent > 480 ? 0x1p481 : power_of_two(exponent + 1);
  }

  __device__ void take(double value, std::uint32_t label, Digits& digits) const {
    if constexpr (term == LabelTerm::magnitude) value = fabs(value);
    const double rest = fabs(value) < limit_ ? window_.add(value, digits) : value;
    if (rest != 0.0 && is_finite_float(rest)) add_to_limbs<term>(table_, label, rest);
  }

  __device__ void take_square(double value, std::uint32_t label, Digits& digits) const {
    const double size = fabs(value);
    if (size < limit_ && (size >= min_root || size == 0.0)) {
      const DoublePair square = square_of(value);
      add_part<0>(square.high, label, digits);
      if constexpr (std::is_same_v<Element, double>) add_part<1>(square.low, label, digits);
    } else if (is_finite_float(value)) {
      add_square_to_limbs(table_, label, value);
    }
  }

  template <int First>
  __device__ void add_part(double part, std::uint32_t label, Digits& digits) const {
    const double rest = window_.template add<First>(part, digits);
    if (rest != 0.0) add_to_limbs<term>(table_, label, rest);
  }

  const LabelTable& table_;
  DigitWindow<count> window_;
  double limit_;
};

/// Integers have room in their digits.
template <class Element, LabelTerm term>
requires std::is_integral_v<Element>
class TermDigits<Element, term> {
 public:
  static constexpr bool floating = false;
  static constexpr int count = label_digits(floating, term);
  using Digits = LabelDigits<count>;

  __device__ explicit TermDigits(const LabelTable&) {}

  __device__ Digits of(Element element, std::uint32_t) const {
    if constexpr (term == LabelTerm::value) {
      const auto low = static_cast<std::uint32_t>(element);
      return {{static_cast<std::int64_t>(element >> 32), std::int64_t{low}}};
    } else {
      const std::uint64_t size = size_of(element);
      if constexpr (term == LabelTerm::magnitude)
        return {{word(size >> 32), word(size)}};
      else
        return of_square(size);
    }
  }

 private:
  __device__ static std::uint64_t size_of(Element element) {
    const auto bits = static_cast<std::uint64_t>(element);
    if constexpr (std::is_signed_v<Element>)
      return element < 0 ? 0 - bits : bits;
    else
      return bits;
  }

  __device__ static std::int64_t word(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits & 0xffffffffu);
  }

  __device__ static Digits of_square(std::uint64_t size) {
    const std::uint64_t low = size * size;
    const std::uint64_t high = __umul64hi(size, size);
    return {{word(high >> 32), word(high), word(low >> 32), word(low)}};
  }
};

}  // namespace warpfold::cuda::kernels
