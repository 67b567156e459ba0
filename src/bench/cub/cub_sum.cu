#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include "bench/cub/cub_peers.hpp"

namespace warpfold::bench {
namespace {

template <class In, class Out>
cudaError_t sum(void* scratch, std::size_t& scratch_bytes, const void* input, void* output,
                std::uint64_t elements, cudaStream_t stream) {
  return cub::DeviceReduce::Sum(scratch, scratch_bytes, static_cast<const In*>(input),
                                static_cast<Out*>(output), elements, stream);
}

#if CUB_VERSION >= 300000
struct ToFloat {
  __host__ __device__ float operator()(__half x) const { return __half2float(x); }
  __host__ __device__ float operator()(__nv_bfloat16 x) const { return __bfloat162float(x); }
};

template <class In>
cudaError_t sum_in_float(void* scratch, std::size_t& scratch_bytes, const void* input, void* output,
                         std::uint64_t elements, cudaStream_t stream) {
  return cub::DeviceReduce::TransformReduce(scratch, scratch_bytes, static_cast<const In*>(input),
                                            static_cast<float*>(output), elements,
                                            ::cuda::std::plus<>{}, ToFloat{}, 0.0f, stream);
}
#endif

}  // namespace

std::string cub_description() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
         "." + std::to_string(CUB_SUBMINOR_VERSION);
}

std::optional<CubSum> cub_sum(ElementType input) {
  switch (input) {
    case ElementType::u8:
      return CubSum{sum<std::uint8_t, std::uint32_t>, ElementType::u32};
#ifndef WARPFOLD_SAMPLE_KERNELS
    case ElementType::i16:
      return CubSum{sum<std::int16_t, std::int64_t>, ElementType::i64};
    case ElementType::u32:
      return CubSum{sum<std::uint32_t, std::uint32_t>, ElementType::u32};
    case ElementType::i64:
      return CubSum{sum<std::int64_t, std::int64_t>, ElementType::i64};
    case ElementType::f32:
      return CubSum{sum<float, float>, ElementType::f32};
    case ElementType::f64:
      return CubSum{sum<double, double>, ElementType::f64};
#endif
#if CUB_VERSION >= 300000
    case ElementType::f16:
      return CubSum{sum_in_float<__half>, ElementType::f32};
    case ElementType::bf16:
      return CubSum{sum_in_float<__nv_bfloat16>, ElementType::f32};
#endif
    default:
      return std::nullopt;
  }
}

}  // namespace warpfold::bench
