#pragma once

#include <thrust/iterator/transform_iterator.h>

#include <type_traits>

namespace warpfold::bench {

template <class Out>
struct Widened {
  template <class In>
  __host__ __device__ Out operator()(In x) const {
    return static_cast<Out>(x);
  }
};

/// Returns elements of the type in which they are to be added: CUB adds up in the type of the
/// elements that it reads, or of the first value that it is given.
template <class Out, class In>
auto widened(const In* input) {
  if constexpr (std::is_same_v<In, Out>)
    return input;
  else
    return thrust::make_transform_iterator(input, Widened<Out>{});
}

}  // namespace warpfold::bench
