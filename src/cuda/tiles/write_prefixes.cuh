#pragma once

#include <cstdint>

#include "cuda/tiles/tile.cuh"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

template <class Out, class Value>
__device__ void write_prefixes_as(const BlockView& block, const Tile& tile, std::int32_t place,
                                  const Quad<Value>& prefixes) {
  Quad<Out> quad;
#pragma unroll
  for (int k = 0; k < quad_elements; ++k)
    quad.element[k] = output_element<Out>(prefixes.element[k]);
  write_elements(block, tile, place, quad);
}

/// Stores floating-point prefixes, whose output types are floating-point too.
__device__ inline void write_prefixes(const BlockView& block, const Tile& tile, std::int32_t place,
                                      const Quad<double>& prefixes) {
  switch (block.output_type) {
    case ElementType::f16:
      return write_prefixes_as<Float16>(block, tile, place, prefixes);
    case ElementType::bf16:
      return write_prefixes_as<BFloat16>(block, tile, place, prefixes);
    case ElementType::f32:
      return write_prefixes_as<float>(block, tile, place, prefixes);
    default:
      return write_prefixes_as<double>(block, tile, place, prefixes);
  }
}

/// Where everything overflows, few find an index below the one known: reading it spares the rest
/// an atomic operation on one address.
template <class Out>
__device__ void note_overflow(const Tile& tile, std::int32_t place, const Quad<int128>& prefixes,
                              const OverflowCheck& check) {
  const std::int32_t present = tile.present(place);
  int first = quad_elements;
#pragma unroll
  for (int k = quad_elements - 1; k >= 0; --k)
    if (k < present && !can_hold<Out>(prefixes.element[k])) first = k;
  if (first == quad_elements) return;
  const unsigned long long index =
      static_cast<unsigned long long>(tile.first) + static_cast<unsigned long long>(place + first);
  if (index < *static_cast<const volatile unsigned long long*>(check.first_index))
    atomicMin(check.first_index, index);
}

/// Stores integer prefixes and notes those that do not fit.
__device__ inline void write_prefixes(const BlockView& block, const Tile& tile, std::int32_t place,
                                      const Quad<int128>& prefixes, const OverflowCheck& check) {
  visit_element_type(block.output_type, [&](auto element) {
    using Out = decltype(element);
    if (check.enabled) note_overflow<Out>(tile, place, prefixes, check);
    write_prefixes_as<Out>(block, tile, place, prefixes);
  });
}

}  // namespace warpfold::cuda::kernels
