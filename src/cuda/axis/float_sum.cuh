#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/rounding.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cuda/axis/axis_scan.hpp"
#include "cuda/axis/column_number.cuh"
#include "cuda/axis/near_sum.hpp"
#include "cuda/primitives/rounded_element.cuh"

namespace warpfold::cuda::kernels {

/// Stores a double that was rounded towards the output type, a float.
__device__ inline void store_float(const AxisScan& scan, std::uint64_t place, double value) {
  const bool half = scan.output == ElementType::f16;
  if (scan.output == ElementType::f64)
    reinterpret_cast<std::uint64_t*>(scan.prefixes)[place] =
        rounded_bits<std::uint64_t>(value, 0, 0);
  else if (scan.output == ElementType::f32)
    reinterpret_cast<std::uint32_t*>(scan.prefixes)[place] =
        rounded_bits<std::uint32_t>(value, 23, 127);
  else
    reinterpret_cast<std::uint16_t*>(scan.prefixes)[place] =
        rounded_bits<std::uint16_t>(value, half ? 10 : 7, half ? 15 : 127);
}

/// Adds to a sum in local memory: what few elements need.
template <int Count>
__device__ __noinline__ void add_to_line(FloatLineSum& sum, const Addend<Count> addend) {
  if (!sum.finite.add(addend)) sum.met |= FloatLineSum::inexact;
}

/// Sums of doubles.
struct FloatSum {
  using Number = ComparedDouble;
  using State = FloatLineSum;
  static constexpr bool stores_groups = true;

  /// A sum of what its window covers.
  struct Near {
    NearWindow window;
    NearSum sum;
    std::uint64_t last_far;
  };

  Rounding rounding;

  __device__ State none() const { return {}; }

  /// Moves a sum to where so many elements are added, if there is room.
  __device__ static Near near(State& sum, std::uint64_t elements) {
    Near near{NearWindow(elements, false), {}, ~std::uint64_t{1}};
    if (sum.met == 0) near.sum.take(sum.finite, near.window);
    return near;
  }

  /// Tells whether take() takes an element that follows all of the line.
  __device__ static bool continues(const Near& near, Number element) {
    return static_cast<int>(near.window.covers(element.bits)) | static_cast<int>(is_zero(element));
  }

  /// Takes an element, or returns false.
  __device__ static bool take(Near& near, Number element) {
    if (!near.window.covers(element.bits)) return is_zero(element);
    near.sum.add(near.window.number(element.bits));
    return true;
  }

  /// Takes element `i` that take() does not. The window moves to the second of two such in a row.
  __device__ static void take_far(Near& near, State& sum, Number element, std::uint64_t i) {
    if (!is_finite(element)) {
      sum.met |= met(element);
      return;
    }
    const bool moves = near.sum.units == 0 || i == near.last_far + 1;
    near.last_far = i;
    if (moves) {
      empty(near, sum);
      near.window.move_to(element.bits);
    }
    if (!moves || !take(near, element)) add_wide(sum, element);
  }

  /// Takes the element that follows the others, whose sum is in `near` if its window is placed,
  /// otherwise in `sum`.
  __device__ static void continue_line(Near& near, State& sum, Number element) {
    if (take(near, element)) return;
    empty(near, sum);
    if (!is_finite(element))
      sum.met |= met(element);
    else if (sum.met == 0 && near.sum.take(sum.finite, near.window, element.bits))
      take(near, element);
    else
      add_wide(sum, element);
  }

  /// Adds the near sum to the other, and makes that ready to be appended, or appended to.
  __device__ static void finish(Near& near, State& sum) {
    empty(near, sum);
    settle(sum);
  }

  __device__ void append(State& sum, const State& later) const {
    sum.met |= later.met;
    sum.finite.merge(later.finite, [&](double) { sum.met |= State::inexact; });
    settle(sum);
  }

  __device__ static bool inexact(const State& sum) { return (sum.met & State::inexact) != 0; }

  __device__ void store(const AxisScan& scan, std::uint64_t place, const Near& near) const {
    store_float(scan, place, near.sum.rounded(rounding, near.window.unit()));
  }

  __device__ void store(const AxisScan& scan, std::uint64_t place, const Near& near,
                        const State& sum) const {
    if (near.window.is_placed()) return store(scan, place, near);
    const auto first = [&](std::uint64_t kind) { return (sum.met & kind) != 0 ? -1 : 0; };
    const double finite = sum.finite.rounded(rounding);
    store_float(scan, place,
                scan_order::with_specials(finite,
                                          {first(State::nan), first(State::positive_infinity),
                                           first(State::negative_infinity)},
                                          0));
  }

 private:
  __device__ static void add_wide(State& sum, Number element) {
    add_to_line(sum, addend_of(scaled_number(element), 53));
  }

  __device__ static void empty(Near& near, State& sum) {
    if (near.sum.units != 0) add_to_line(sum, near.sum.addend(near.window.unit()));
    near.sum = {};
    near.window.leave();
  }

  __device__ static void settle(State& sum) {
    sum.finite.settle([&](double) { sum.met |= State::inexact; });
  }

  /// Returns what an element is that is not finite.
  __device__ static std::uint64_t met(Number element) {
    if (is_nan(element)) return State::nan;
    return element.negative() ? State::negative_infinity : State::positive_infinity;
  }
};

}  // namespace warpfold::cuda::kernels
