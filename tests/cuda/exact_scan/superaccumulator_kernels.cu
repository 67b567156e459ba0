#include <algorithm>

#include "cuda/exact_scan/superaccumulator.cuh"
#include "cuda/exact_scan/superaccumulator_kernels.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda::test {
namespace {

static_assert(digits == kernels::full_width_digits && least_unit == kernels::least_unit);

struct Results {
  FullWidthSum sum;
  kernels::WindowSum taken;
  std::uint32_t rest[digits];
  kernels::WindowSum added;
};

__global__ void sum_kernel(const Term* terms, const int count, const int top, Results* results) {
  __shared__ std::uint32_t memory[digits];
  kernels::WarpSuperaccumulator sum{};
  kernels::WindowSum added{};
  for (int i = 0; i < count; ++i) {
    kernels::WarpSuperaccumulator own{};
    own.add(terms[i].units, terms[i].exponent);
    own.normalize();
    added.add(own.take(top, memory));
    sum.add(terms[i].units, terms[i].exponent);
  }
  sum.normalize();
  sum.store(results->sum.digit.data());
  const bool any = sum.any();
  const int exponent = sum.exponent();
  const kernels::WindowSum taken = sum.take(top, memory);
  sum.store(results->rest);
  added.normalize();
  if (warp::lane() != 0) return;
  results->sum.any = any;
  results->sum.exponent = exponent;
  results->taken = taken;
  results->added = added;
}

struct Numbers {
  std::int32_t half_digits[2 * digits];
  std::uint32_t digit[digits];
};

__global__ void difference_kernel(Numbers* numbers) {
  kernels::WarpSuperaccumulator number;
  number.set(numbers->half_digits);
  number.subtract(numbers->digit);
  number.normalize();
  number.store(numbers->digit);
}

Results results_of(const std::vector<Term>& terms, int top) {
  const Stream stream;
  const DeviceBuffer input(terms.size() * sizeof(Term));
  const DeviceBuffer output(sizeof(Results));
  copy_to_device(input.data(), terms.data(), terms.size() * sizeof(Term), stream.get());
  fill_bytes(output.data(), 0, output.size(), stream.get());
  launch("starting a kernel", sum_kernel, {1, warp::lanes, stream.get()},
         reinterpret_cast<const Term*>(input.data()), static_cast<int>(terms.size()), top,
         reinterpret_cast<Results*>(output.data()));
  return downloaded_value<Results>(reinterpret_cast<const Results*>(output.data()), stream.get());
}

std::vector<Term> terms_of(const kernels::WindowSum& units, int top) {
  std::vector<Term> terms;
  for (int i = 0; i < kernels::window_slices; ++i)
    terms.push_back({units.slice[i], kernels::slice_unit(top, i)});
  return terms;
}

}  // namespace

FullWidthSum sum_at_full_width(const std::vector<Term>& terms) {
  return results_of(terms, kernels::least_full_top).sum;
}

std::array<std::uint32_t, digits> difference(
    const std::array<std::int32_t, 2 * digits>& half_digits,
    const std::array<std::uint32_t, digits>& less) {
  Numbers numbers{};
  std::copy(half_digits.begin(), half_digits.end(), numbers.half_digits);
  std::copy(less.begin(), less.end(), numbers.digit);
  const Stream stream;
  const DeviceBuffer memory(sizeof(Numbers));
  copy_to_device(memory.data(), &numbers, sizeof(Numbers), stream.get());
  auto* const on_device = reinterpret_cast<Numbers*>(memory.data());
  launch("starting a kernel", difference_kernel, {1, warp::lanes, stream.get()}, on_device);
  return std::to_array(downloaded_value<Numbers>(on_device, stream.get()).digit);
}

TakenSum taken_by_window(const std::vector<Term>& terms, int top) {
  const Results results = results_of(terms, top);
  return {terms_of(results.taken, top), std::to_array(results.rest)};
}

std::vector<Term> sum_in_window(const std::vector<Term>& terms, int top) {
  return terms_of(results_of(terms, top).added, top);
}

}  // namespace warpfold::cuda::test
