#include "cuda/chunks/decode_elements.hpp"

#include <algorithm>
#include <bit>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned decode_threads = 256;

/// Returns the bits of a value, or of the wide one that equals it.
template <class Value>
__device__ std::uint64_t bits_of(Value value, bool wide) {
  if (wide) return value_bits(value);
  return std::bit_cast<Word<Value>>(value);
}

template <class Value, class Stored>
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
    Value value;
    const bool counts = decode(stored.decoding, element, value) &&
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

template <class Stored>
__global__ void __launch_bounds__(decode_threads)
    decode_kernel(const __grid_constant__ StoredElements stored,
                  const __grid_constant__ DecodedElements target) {
  visit_value_of<Stored>(stored.decoding.unpacking,
                         [&](auto value) { decode_all<decltype(value), Stored>(stored, target); });
}

/// Returns how many blocks decode: of threads that take four elements each at least; as many as
/// fill any GPU several times.
unsigned decoding_blocks(std::uint64_t elements) {
  constexpr std::uint64_t max_blocks = 1 << 14;
  return static_cast<unsigned>(std::min(ceil_div(elements, 4 * decode_threads), max_blocks));
}

}  // namespace

void load_decoding(ElementType type) {
  visit_element_type(type, [](auto element) { load_kernel(decode_kernel<decltype(element)>); });
}

void decode_elements(const StoredElements& stored, const DecodedElements& target,
                     cudaStream_t stream) {
  if (stored.count == 0) return;
  visit_element_type(stored.format.type, [&](auto element) {
    launch("starting to decode elements on the GPU", decode_kernel<decltype(element)>,
           {decoding_blocks(stored.count), decode_threads, stream}, stored, target);
  });
}

}  // namespace warpfold::cuda::kernels
