// The CUDA runtime of an emulated GPU: its memory is the host's, streams are done at once.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "emulator/grid.hpp"

using warpfold::emulator::blocks_per_multiprocessor;
using warpfold::emulator::multiprocessors;

namespace {

constexpr std::size_t memory_bytes = std::size_t{64} << 30;

/// Memory that nothing may rely on.
constexpr int unwritten = 0xcd;
constexpr std::size_t most_unwritten = std::size_t{64} << 20;

cudaError_t allocate(void** memory, std::size_t bytes) {
  *memory = bytes > memory_bytes ? nullptr : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, unwritten, std::min(bytes, most_unwritten));
  return cudaSuccess;
}

/// The major number: that of GPUs without bulk copies, unless the environment says otherwise.
int compute_capability() {
  const char* const major = std::getenv("WARPFOLD_EMULATED_COMPUTE_CAPABILITY");
  return major == nullptr ? 8 : std::atoi(major);
}

/// Shared memory of a thread block: that of a V100, or of GPUs from sm_80 on.
std::size_t shared_memory_bytes() {
  return std::size_t{compute_capability() < 8 ? 96u : 163u} << 10;
}

struct EmulatedEvent {
  timespec when;
};

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int) {
  std::strncpy(text, "0000:00:00.0", static_cast<std::size_t>(bytes));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      return *value = static_cast<int>(multiprocessors), cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      return *value = compute_capability(), cudaSuccess;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return *value = 2, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return *value = static_cast<int>(shared_memory_bytes()), cudaSuccess;
    default:
      return cudaErrorNotSupported;
  }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "emulated GPU");
  properties->totalGlobalMem = memory_bytes;
  properties->major = compute_capability();
  properties->multiProcessorCount = static_cast<int>(multiprocessors);
  properties->sharedMemPerBlockOptin = shared_memory_bytes();
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "an error";
}
const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : "of the emulated GPU";
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes);
}
cudaError_t cudaFree(void* memory) { return std::free(memory), cudaSuccess; }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) { return std::free(memory), cudaSuccess; }
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return *device = host, cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return *free = *total = memory_bytes, cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void*) {
  *attributes = {};
  attributes->type = cudaMemoryTypeDevice;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t) {
  return std::memset(to, byte, bytes), cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  static std::byte every_stream;
  return *stream = reinterpret_cast<cudaStream_t>(&every_stream), cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new EmulatedEvent{});
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return delete reinterpret_cast<EmulatedEvent*>(event), cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  clock_gettime(CLOCK_MONOTONIC, &reinterpret_cast<EmulatedEvent*>(event)->when);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t last) {
  const timespec begin = reinterpret_cast<EmulatedEvent*>(first)->when;
  const timespec end = reinterpret_cast<EmulatedEvent*>(last)->when;
  *milliseconds = static_cast<float>(end.tv_sec - begin.tv_sec) * 1e3f +
                  static_cast<float>(end.tv_nsec - begin.tv_nsec) * 1e-6f;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->ptxVersion = 10 * compute_capability();
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                          std::size_t) {
  *blocks = static_cast<int>(blocks_per_multiprocessor);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   std::size_t, unsigned) {
  *blocks = static_cast<int>(blocks_per_multiprocessor);
  return cudaSuccess;
}

}  // extern "C"
