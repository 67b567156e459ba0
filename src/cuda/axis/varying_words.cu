#include <algorithm>

#include "core/layout/partition.hpp"
#include "cuda/axis/varying_words.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned word_threads = 256;

__global__ void __launch_bounds__(word_threads)
    find_varying_words_kernel(const WordArray elements, std::uint32_t* varying) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * word_threads;
  std::uint32_t found = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * word_threads + threadIdx.x; i < elements.count;
       i += step)
    for (unsigned w = 0; w < elements.width; ++w)
      if (elements.words[i * elements.stride + w] != elements.words[w]) found |= 1u << w;
  found = warp::combined_bits(found);
  if (warp::lane() == 0 && found != 0) atomicOr(varying, found);
}

__global__ void __launch_bounds__(word_threads)
    pack_word_kernel(const WordArray elements, const unsigned word, std::uint64_t* packed) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * word_threads + threadIdx.x;
  if (i < elements.count) packed[i] = elements.words[i * elements.stride + word];
}

}  // namespace

void find_varying_words(const WordArray& elements, std::uint32_t* varying, cudaStream_t stream) {
  constexpr std::uint64_t max_blocks = 1024;
  const std::uint64_t blocks = ceil_div(elements.count, std::uint64_t{word_threads});
  launch("starting to compare results on the GPU", find_varying_words_kernel,
         {std::min(blocks, max_blocks), word_threads, stream}, elements, varying);
}

void pack_word(const WordArray& elements, unsigned word, std::uint64_t* packed,
               cudaStream_t stream) {
  launch("starting to pack results on the GPU", pack_word_kernel,
         {ceil_div(elements.count, std::uint64_t{word_threads}), word_threads, stream}, elements,
         word, packed);
}

}  // namespace warpfold::cuda::kernels
