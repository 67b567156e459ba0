
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <limits>
#include <type_traits>

#include "bench/cub/cub_peers.hpp"
#include "bench/cub/widened.cuh"

namespace warpfold::bench {
namespace {

template <class In, class Out>
cudaError_t inclusive(void* scratch, std::size_t& scratch_bytes, const void* input, void* output,
                      std::uint64_t elements, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(scratch, scratch_bytes,
                                       widened<Out>(static_cast<const In*>(input)),
                                       static_cast<Out*>(output), elements, stream);
}

template <class In, class Out>
cudaError_t exclusive(void* scratch, std::size_t& scratch_bytes, const void* input, void* output,
                      std::uint64_t elements, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(scratch, scratch_bytes, static_cast<const In*>(input),
                                        static_cast<Out*>(output), ::cuda::std::plus<>{}, Out{},
                                        elements, stream);
}

template <class In, class Out>
CubLaunch chosen(bool is_exclusive) {
  return is_exclusive ? exclusive<In, Out> : inclusive<In, Out>;
}

}  // namespace

std::uint64_t max_cub_scan_elements() {
#if CUB_VERSION >= 300000
  return std::numeric_limits<std::uint64_t>::max();
#else
  return std::numeric_limits<int>::max();  // what every version before takes
#endif
}

CubLaunch cub_scan(ElementType input, ElementType output, bool exclusive) {
  if (input == ElementType::u8 && output == ElementType::u64)
    return chosen<std::uint8_t, std::uint64_t>(exclusive);
#ifndef WARPFOLD_SAMPLE_KERNELS
  if (input == ElementType::u16 && output == ElementType::u64)
    return chosen<std::uint16_t, std::uint64_t>(exclusive);
  if (input != output) return nullptr;
  switch (input) {
    case ElementType::u8:
      return chosen<std::uint8_t, std::uint8_t>(exclusive);
    case ElementType::u16:
      return chosen<std::uint16_t, std::uint16_t>(exclusive);
    case ElementType::i32:
    case ElementType::u32:
      return chosen<std::uint32_t, std::uint32_t>(exclusive);
    case ElementType::i64:
    case ElementType::u64:
      return chosen<std::uint64_t, std::uint64_t>(exclusive);
    case ElementType::f32:
      return chosen<float, float>(exclusive);
    case ElementType::f64:
      return chosen<double, double>(exclusive);
    default:
      break;
  }
#endif
  return nullptr;
}

}  // namespace warpfold::bench
