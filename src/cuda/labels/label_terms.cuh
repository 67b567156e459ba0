#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/labels/label_digits.cuh"

namespace warpfold::cuda::kernels {

/// Adds magnitude * 2^exponent, which digits have no room for, to the limbs of a label in the
/// block's copy.
template <LabelTerm term>
__device__ __noinline__ void add_to_limbs(const LabelTable& table, std::uint32_t label,
                                          uint128 magnitude, int exponent, bool negative) {
  const LabelSums& sums = table.sums[static_cast<int>(term)];
  const std::uint64_t copy = blockIdx.x % table.copies * (table.capacity / table.copies);
  LabelSum<term>::digits(magnitude, exponent, negative, [&](int limb, std::int64_t addend) {
    const auto row = static_cast<std::uint64_t>(limb - sums.range.first);
    atomicAdd(sums.limbs + row * table.capacity + copy + label,
              static_cast<unsigned long long>(addend));
  });
}

/// One thread's way from elements to digits of a term's sum.
template <class Element, LabelTerm term>
class TermDigits {
  static constexpr bool square = term == LabelTerm::square;
  static constexpr int factor = square ? 2 : 1;
  using Own = LabelElement<Element>;
  using Number =
      std::conditional_t<square, std::conditional_t<sizeof(Element) == 4, std::uint64_t, uint128>,
                         typename Own::Magnitude>;

 public:
  static constexpr int count = label_digits<Element>(term);
  using Digits = LabelDigits<count>;

  __device__ explicit TermDigits(const LabelTable& table)
      : table_(table),
        lowest_(exponent_above_digits(Own::floating, term, table.window->next) -
                label_digit_bits * count) {}

  /// Returns the digits of an element. One that is not between the highest and the lowest digit
  /// goes to limbs.
  __device__ Digits of(Element element, std::uint32_t label) const {
    const Own own(element);
    Number number = own.magnitude();
    if constexpr (square) number *= own.magnitude();
    const bool negative = term == LabelTerm::value && own.negative();
    LabelWords<count> words(number);
    if constexpr (Own::floating) {
      constexpr int most = label_digit_bits * count - factor * std::numeric_limits<Element>::digits;
      const int exponent = factor * own.exponent();
      const auto shift = static_cast<unsigned>(exponent - lowest_);
      if (shift > most) {
        if (own.is_finite() && number != 0)
          add_to_limbs<term>(table_, label, number, exponent, negative);
        return Digits::none();
      }
      words.template shift_left<most>(shift);
    }
    return words.digits(negative);
  }

 private:
  const LabelTable& table_;
  int lowest_;  ///< exponent of the unit of the last digit
};

}  // namespace warpfold::cuda::kernels
