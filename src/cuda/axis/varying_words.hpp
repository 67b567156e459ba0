#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace warpfold::cuda::kernels {

/// `count` elements in device memory, of `width` <= 32 words each, and `stride` words apart.
struct WordArray {
  const std::uint64_t* words;
  std::uint64_t count;
  unsigned width;
  unsigned stride;
};

/// Sets bit w of `varying`, in device memory, if word w is not the same in all elements.
void find_varying_words(const WordArray& elements, std::uint32_t* varying, cudaStream_t stream);

/// Writes word `word` of each element to `packed`, in device memory.
void pack_word(const WordArray& elements, unsigned word, std::uint64_t* packed,
               cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
