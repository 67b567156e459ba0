#include "cuda/chunks/decode_elements.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/primitives/comparable.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned decode_threads = 256;

/// Returns the double that equals a float, by its bits.
template <class Float>
__device__ ComparedDouble compared(Float value) {
  if constexpr (std::is_same_v<Float, double>)
    return {std::bit_cast<std::uint64_t>(value)};
  else
    return ComparedDouble::of(comparable(value));
}

/// Returns the bits of a value, or of the wide one that equals it.
template <class Value>
__device__ std::uint64_t bits_of(Value value, bool wide) {
  if (!wide) return std::bit_cast<Word<Value>>(value);
  if constexpr (is_floating_element<Value>)
    return compared(value).bits;
  else
    return value_bits(value);
}

/// Returns filter.selects(value), by the value's bits.
template <class Value>
__device__ bool selects(const ValueFilter& filter, Value value) {
  if constexpr (is_floating_element<Value>) {
    const ComparedDouble wide = compared(value);
    return is_nan(wide) ? filter.nan : filter.selects(wide);
  } else {
    return filter.selects(value);
  }
}

template <class Value, bool Unpacks, class Stored>
__device__ void decode_all(const StoredElements& stored, const DecodedElements& target) {
  const auto* elements = reinterpret_cast<const Stored*>(stored.elements);
  const bool swapped = stored.format.order != native_byte_order;
  const Mask& mask = stored.decoding.mask;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * decode_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * decode_threads + threadIdx.x; i < stored.count;
       i += threads) {
    std::uint64_t place = i;
    if (target.indices.count > 0) {
      place = stored.indices(i) - target.indices.first;
      if (place >= target.indices.count) continue;
    }
    const Stored element = swapped ? byte_swapped(elements[i]) : elements[i];
    Value value{};
    if constexpr (Unpacks)
      value = unpacked<Value>(element, stored.decoding.unpacking);
    else
      value = element;
    const bool counts = selects(stored.decoding.stored, element) &&
                        selects(stored.decoding.values, value) &&
                        (mask.selects_all() || mask.selects(stored.indices(i)));
    std::uint64_t bits = bits_of(value, target.wide);
    if (target.counting != nullptr)
      target.counting[place] = counts;
    else if (!counts)
      bits = target.left_out;
    if (target.wide)
      reinterpret_cast<std::uint64_t*>(target.values)[place] = bits;
    else
      reinterpret_cast<Word<Value>*>(target.values)[place] = static_cast<Word<Value>>(bits);
  }
}

/// Decodes elements, all of which count, to their own places.
template <class Stored>
__device__ void decode_in_order(const StoredElements& stored, const DecodedElements& target) {
  constexpr int loaded = 4;
  const auto* elements = reinterpret_cast<const Stored*>(stored.elements);
  const bool swapped = stored.format.order != native_byte_order;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * decode_threads;
  std::uint64_t place = std::uint64_t{blockIdx.x} * decode_threads + threadIdx.x;
  while (place < stored.count) {
    Stored element[loaded];
#pragma unroll
    for (int i = 0; i < loaded; ++i)
      if (place + i * threads < stored.count) element[i] = elements[place + i * threads];
#pragma unroll
    for (int i = 0; i < loaded; ++i, place += threads) {
      if (place >= stored.count) break;
      if (swapped) element[i] = byte_swapped(element[i]);
      const std::uint64_t bits = bits_of(element[i], target.wide);
      if (target.counting != nullptr) target.counting[place] = true;
      if (target.wide)
        reinterpret_cast<std::uint64_t*>(target.values)[place] = bits;
      else
        reinterpret_cast<Word<Stored>*>(target.values)[place] = static_cast<Word<Stored>>(bits);
    }
  }
}

template <class Stored>
__global__ void __launch_bounds__(decode_threads)
    decode_kernel(const __grid_constant__ StoredElements stored,
                  const __grid_constant__ DecodedElements target) {
  if (stored.decoding.selects_all() && target.indices.count == 0)
    decode_in_order<Stored>(stored, target);
  else
    decode_all<Stored, false, Stored>(stored, target);
}

template <class Stored>
__global__ void __launch_bounds__(decode_threads)
    unpack_kernel(const __grid_constant__ StoredElements stored,
                  const __grid_constant__ DecodedElements target) {
  visit_value_of<Stored>(stored.decoding.unpacking, [&](auto value) {
    using Value = decltype(value);
    if constexpr (std::is_floating_point_v<Value> || sizeof(Value) == sizeof(std::uint64_t))
      decode_all<Value, true, Stored>(stored, target);
  });
}

/// Returns how many blocks decode: of threads that take four elements each at least; as many as
/// fill any GPU several times.
unsigned decoding_blocks(std::uint64_t elements) {
  constexpr std::uint64_t max_blocks = 1 << 14;
  return static_cast<unsigned>(std::min(ceil_div(elements, 4 * decode_threads), max_blocks));
}

}  // namespace

void load_decoding(ElementType type) {
  visit_kernel_type(type, [](auto element) {
    load_kernel(decode_kernel<decltype(element)>);
    load_kernel(unpack_kernel<decltype(element)>);
  });
}

void decode_elements(const StoredElements& stored, const DecodedElements& target,
                     cudaStream_t stream) {
  if (stored.count == 0) return;
  visit_kernel_type(stored.format.type, [&](auto element) {
    using Stored = decltype(element);
    launch("starting to decode elements on the GPU",
           stored.decoding.unpacking.active ? unpack_kernel<Stored> : decode_kernel<Stored>,
           {decoding_blocks(stored.count), decode_threads, stream}, stored, target);
  });
}

}  // namespace warpfold::cuda::kernels
