#include <algorithm>
#include <type_traits>

#include "bench/kernels/kernels.hpp"
#include "core/layout/partition.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/stream.hpp"

namespace warpfold::bench::kernels {
namespace {

constexpr int atomics_threads = 512;
constexpr std::uint64_t most_blocks = 528;
constexpr std::uint64_t max_shared_bytes = std::uint64_t{48} << 10;

/// The type that atomicAdd() takes in place of T.
template <class T>
using Addend = std::conditional_t<std::is_integral_v<T>, unsigned long long, T>;

template <class T>
struct LabelArrays {
  const T* elements;
  const std::uint32_t* numbers;
  std::uint64_t count;
  std::uint64_t labels;
  Addend<T>* sums;
  std::uint32_t* counts;
};

template <class T>
__device__ void add_elements(const LabelArrays<T>& of, Addend<T>* sums, std::uint32_t* counts) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * atomics_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * atomics_threads + threadIdx.x; i < of.count;
       i += stride) {
    atomicAdd(sums + of.numbers[i], static_cast<Addend<T>>(of.elements[i]));
    atomicAdd(counts + of.numbers[i], 1u);
  }
}

template <class T>
__global__ void __launch_bounds__(atomics_threads) device_labels_kernel(const LabelArrays<T> of) {
  add_elements(of, of.sums, of.counts);
}

template <class T>
__global__ void __launch_bounds__(atomics_threads) block_labels_kernel(const LabelArrays<T> of) {
  auto* const sums = cuda::dynamic_shared<Addend<T>>();
  auto* const counts = reinterpret_cast<std::uint32_t*>(sums + of.labels);
  for (std::uint64_t label = threadIdx.x; label < of.labels; label += atomics_threads) {
    sums[label] = 0;
    counts[label] = 0;
  }
  __syncthreads();
  add_elements(of, sums, counts);
  __syncthreads();
  for (std::uint64_t label = threadIdx.x; label < of.labels; label += atomics_threads) {
    atomicAdd(of.sums + label, sums[label]);
    atomicAdd(of.counts + label, counts[label]);
  }
}

template <class T>
void start(const LabelledElements& labelled, std::byte* sums, std::uint32_t* counts,
           cudaStream_t stream) {
  cuda::fill_bytes(sums, 0, labelled.labels * sizeof(T), stream);
  cuda::fill_bytes(counts, 0, labelled.labels * sizeof(*counts), stream);
  const LabelArrays<T> of{reinterpret_cast<const T*>(labelled.elements),
                          labelled.numbers,
                          labelled.count,
                          labelled.labels,
                          reinterpret_cast<Addend<T>*>(sums),
                          counts};
  const std::uint64_t shared_bytes = labelled.labels * (sizeof(T) + sizeof(*counts));
  const bool fits = shared_bytes <= max_shared_bytes;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(
      ceil_div(labelled.count, std::uint64_t{atomics_threads}), 1, most_blocks);
  cuda::launch("adding by labels on the GPU",
               fits ? block_labels_kernel<T> : device_labels_kernel<T>,
               {blocks, atomics_threads, stream, fits ? shared_bytes : 0}, of);
}

}  // namespace

void add_by_label(const LabelledElements& labelled, std::byte* sums, std::uint32_t* counts,
                  cudaStream_t stream) {
  if (labelled.type == ElementType::f32)
    start<float>(labelled, sums, counts, stream);
  else if (labelled.type == ElementType::f64)
    start<double>(labelled, sums, counts, stream);
  else
    start<std::int64_t>(labelled, sums, counts, stream);
}

}  // namespace warpfold::bench::kernels
