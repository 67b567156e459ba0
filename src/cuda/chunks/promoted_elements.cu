#include "cuda/chunks/promoted_elements.hpp"

#include <algorithm>
#include <bit>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned widening_threads = 256;
constexpr std::uint64_t max_blocks = std::uint64_t{1} << 16;

template <class T>
__device__ std::uint64_t wide_bits(T value) {
  if constexpr (is_floating_element<T>)
    return std::bit_cast<std::uint64_t>(widened(value));
  else
    return static_cast<std::uint64_t>(static_cast<Wide<T>>(value));
}

template <class Value, class Stored>
__device__ bool decode_as(const Decoding& decoding, Stored stored, std::uint64_t& bits) {
  Value value;
  const bool counts = decode(decoding, stored, value);
  bits = wide_bits(value);
  return counts;
}

template <class Stored>
__device__ bool decode_wide(const Decoding& decoding, Stored stored, std::uint64_t& bits) {
  if (!decoding.unpacking.active) return decode_as<Stored>(decoding, stored, bits);
  if (decoding.unpacking.type == ElementType::f32) return decode_as<float>(decoding, stored, bits);
  if constexpr (std::is_integral_v<Stored>) {
    if (decoding.unpacking.type == ElementType::i64)
      return decode_as<std::int64_t>(decoding, stored, bits);
    if (decoding.unpacking.type == ElementType::u64)
      return decode_as<std::uint64_t>(decoding, stored, bits);
  }
  return decode_as<double>(decoding, stored, bits);
}

template <class Stored>
__global__ void __launch_bounds__(widening_threads)
    widening_kernel(const __grid_constant__ Widening widening) {
  const auto* stored = reinterpret_cast<const Stored*>(widening.stored);
  auto* wide = reinterpret_cast<std::uint64_t*>(widening.wide);
  const bool swapped = widening.format.order != native_byte_order;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * widening_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * widening_threads + threadIdx.x;
       i < widening.count; i += threads) {
    const Stored element = swapped ? byte_swapped(stored[i]) : stored[i];
    std::uint64_t bits;
    const Mask& mask = widening.decoding.mask;
    const bool counts = decode_wide(widening.decoding, element, bits) &&
                        (mask.selects_all() || mask.selects(widening.indices(i)));
    if (widening.counting != nullptr)
      widening.counting[i] = counts;
    else if (!counts)
      bits = widening.left_out;
    wide[i] = bits;
  }
}

}  // namespace

void load_widening(ElementType type) {
  visit_element_type(type, [](auto element) { load_kernel(widening_kernel<decltype(element)>); });
}

void widen_elements(const Widening& widening, cudaStream_t stream) {
  if (widening.count == 0) return;
  const std::uint64_t blocks =
      std::min(ceil_div(widening.count, std::uint64_t{widening_threads}), max_blocks);
  visit_element_type(widening.format.type, [&](auto element) {
    launch("starting to decode elements on the GPU", widening_kernel<decltype(element)>,
           {blocks, widening_threads, stream}, widening);
  });
}

}  // namespace warpfold::cuda::kernels
