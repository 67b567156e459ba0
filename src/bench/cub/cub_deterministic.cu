#include <cub/version.cuh>

#include "bench/cub/cub_peers.hpp"

#if CUB_VERSION >= 300500

#include <cuda/execution.determinism.h>
#include <cuda/execution.require.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/memory_resource>
#include <cuda/std/functional>
#include <cuda/stream_ref>
#include <new>

namespace warpfold::bench {

/// Lends CUB the caller's scratch memory. Without any it stores the size and refuses.
struct CubScratch {
  void* memory;
  std::size_t* bytes;

  void* allocate_sync(std::size_t size, std::size_t) {
    if (memory == nullptr) *bytes = size;
    if (memory == nullptr || size > *bytes) throw std::bad_alloc();
    return memory;
  }
  void deallocate_sync(void*, std::size_t, std::size_t) {}
  void* allocate(::cuda::stream_ref, std::size_t size, std::size_t alignment) {
    return allocate_sync(size, alignment);
  }
  void deallocate(::cuda::stream_ref, void*, std::size_t, std::size_t) {}

  friend bool operator==(const CubScratch&, const CubScratch&) = default;
};

namespace {

namespace determinism = ::cuda::execution::determinism;

/// Makes a CubLaunch of start(input, output, elements, environment), where the environment requires
/// `guarantee`.
template <class T, class Guarantee, class Start>
CubLaunch guaranteed(Guarantee guarantee, Start start) {
  return [=](void* memory, std::size_t& bytes, const void* input, void* output,
             std::uint64_t elements, cudaStream_t stream) {
    const ::cuda::std::execution::env environment{
        ::cuda::execution::require(guarantee), ::cuda::stream_ref{stream},
        ::cuda::std::execution::prop{::cuda::mr::get_memory_resource, CubScratch{memory, &bytes}}};
    const cudaError_t status =
        start(static_cast<const T*>(input), static_cast<T*>(output), elements, environment);
    const bool asked = memory == nullptr && status == cudaErrorMemoryAllocation;
    return asked ? cudaSuccess : status;
  };
}

template <class T>
CubLaunch gpu_to_gpu_sum() {
  return guaranteed<T>(determinism::gpu_to_gpu,
                       [](auto... arguments) { return cub::DeviceReduce::Sum(arguments...); });
}

template <class T>
CubLaunch run_to_run_scan(bool exclusive) {
  if (!exclusive)
    return guaranteed<T>(determinism::run_to_run, [](auto... arguments) {
      return cub::DeviceScan::InclusiveSum(arguments...);
    });
  return guaranteed<T>(determinism::run_to_run, [](auto... arguments) {
    return cub::DeviceScan::ExclusiveSum(arguments...);
  });
}

}  // namespace

CubLaunch cub_gpu_to_gpu_sum(ElementType type) {
  if (type == ElementType::f64) return gpu_to_gpu_sum<double>();
  return type == ElementType::f32 ? gpu_to_gpu_sum<float>() : nullptr;
}

CubLaunch cub_run_to_run_scan(ElementType type, bool exclusive) {
  if (type == ElementType::f64) return run_to_run_scan<double>(exclusive);
  return type == ElementType::f32 ? run_to_run_scan<float>(exclusive) : nullptr;
}

}  // namespace warpfold::bench

#else

namespace warpfold::bench {

CubLaunch cub_gpu_to_gpu_sum(ElementType) { return nullptr; }

CubLaunch cub_run_to_run_scan(ElementType, bool) { return nullptr; }

}  // namespace warpfold::bench

#endif
