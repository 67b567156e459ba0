#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/inflate/inflate_stream.hpp"

namespace warpfold::cuda::kernels {

/// Streams to be inflated together, in device memory. They are begun in their order: the longest
/// first makes the ends come at about the same time.
struct InflateBatch {
  const inflate::InflateStream* streams;  ///< outputs are aligned to 16 bytes, of 1 GiB at most
  inflate::InflateOutcome* outcomes;
  std::uint32_t count;
  std::uint32_t* next;     ///< a word of scratch memory
  std::uint32_t* refused;  ///< how many streams are not good, added to what is there
};

/// Counts the streams that the current device inflates at the same time. Makes it ready for that.
std::uint64_t resident_inflate_streams();

/// Starts inflating streams and verifying their checksums. `in_flight` is how many are to be
/// inflated at the same time, with those of other batches: few of them share no warps.
void inflate_streams(const InflateBatch& batch, std::uint64_t in_flight, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
