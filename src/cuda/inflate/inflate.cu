#include "cuda/inflate/inflate.hpp"

#include <algorithm>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/inflate/inflate_streams.hpp"
#include "cuda/primitives/device_warp.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda::kernels {
namespace {

using inflate::InflateOutcome;
using inflate::InflateStatus;
using inflate::InflateStream;

constexpr int inflate_threads = 64;
constexpr std::uint32_t inflate_warps = inflate_threads / warp::lanes;

/// As many as the shared memory of compute capability 9.0 holds the tables of.
constexpr int inflate_blocks = 8;

constexpr std::size_t inflate_shared_bytes =
    sizeof(inflate::CodeTables) * inflate::groups * inflate_warps;

__global__ void __launch_bounds__(inflate_threads, inflate_blocks)
    inflate_kernel(const inflate::InflateWork work, std::uint32_t active_groups) {
  auto* const tables = dynamic_shared<inflate::CodeTables>() + warp::index() * inflate::groups;
  inflate::inflate_streams<DeviceWarp>(tables, work, active_groups);
}

constexpr int checksum_threads = 256;
constexpr std::uint32_t adler_modulus = 65521;

/// The two sums of Adler-32 (RFC 1950): of bytes, and of bytes times how many from each on to the
/// end there are. Modulo 2^64, which outputs of 1 GiB do not reach.
struct AdlerSums {
  std::uint64_t bytes;
  std::uint64_t weighted;

  __device__ void add(std::uint64_t some_bytes, std::uint64_t some_weighted) {
    bytes += some_bytes;
    weighted += some_weighted;
  }

  __device__ AdlerSums reduced() const { return {bytes % adler_modulus, weighted % adler_modulus}; }

  __device__ std::uint32_t checksum(std::uint32_t count) const {
    const std::uint64_t low = (1 + bytes) % adler_modulus;
    const std::uint64_t high = (count + weighted) % adler_modulus;
    return static_cast<std::uint32_t>(high << 16 | low);
  }
};

/// Returns a thread's part of the sums of an output.
__device__ AdlerSums adler_part(const std::uint8_t* out, std::uint32_t count) {
  constexpr std::uint32_t vector_bytes = sizeof(uint4);
  AdlerSums sums{};
  const auto* vectors = reinterpret_cast<const uint4*>(out);
  for (std::uint32_t i = threadIdx.x; i < count / vector_bytes; i += checksum_threads) {
    const uint4 vector = vectors[i];
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    std::uint32_t bytes = 0;
    std::uint32_t placed = 0;  // bytes times their place in the vector
#pragma unroll
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t of_word = __dp4a(words[k], 0x01010101u, 0u);
      bytes += of_word;
      placed += __dp4a(words[k], 0x03020100u, 4 * k * of_word);
    }
    sums.add(bytes, std::uint64_t{count - vector_bytes * i} * bytes - placed);
  }
  for (std::uint32_t i = count / vector_bytes * vector_bytes + threadIdx.x; i < count;
       i += checksum_threads)
    sums.add(out[i], std::uint64_t{count - i} * out[i]);
  return sums;
}

/// Returns in thread 0 the sum over the block.
__device__ AdlerSums sum_of_block(AdlerSums sums) {
  constexpr int warps = checksum_threads / warp::lanes;
  const auto plus = [](const AdlerSums& a, const AdlerSums& b) {
    return AdlerSums{a.bytes + b.bytes, a.weighted + b.weighted};
  };
  __shared__ AdlerSums of_warps[warps];
  sums = warp::reduce(sums.reduced(), plus);
  if (warp::lane() == 0) of_warps[warp::index()] = sums;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 1; i < warps; ++i) sums = plus(sums, of_warps[i]);
  return sums;
}

/// Returns the checksum behind a stream's last block, which may be unaligned.
__device__ std::uint32_t stored_checksum(const InflateStream& stream, std::uint32_t taken) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(stream.words) + stream.first + taken;
  return std::uint32_t{bytes[-4]} << 24 | std::uint32_t{bytes[-3]} << 16 |
         std::uint32_t{bytes[-2]} << 8 | bytes[-1];
}

/// A block for each stream.
__global__ void __launch_bounds__(checksum_threads)
    verify_kernel(const InflateStream* streams, InflateOutcome* outcomes, std::uint32_t* refused) {
  const InflateOutcome outcome = outcomes[blockIdx.x];
  const InflateStream stream = streams[blockIdx.x];
  bool good = outcome.status == InflateStatus::good;
  if (good) {
    const AdlerSums sums = sum_of_block(adler_part(stream.out, stream.out_bytes));
    if (threadIdx.x == 0)
      good = sums.checksum(stream.out_bytes) == stored_checksum(stream, outcome.taken);
    if (!good) outcomes[blockIdx.x].status = InflateStatus::bad_checksum;
  }
  if (!good && threadIdx.x == 0) atomicAdd(refused, 1u);
}

/// Returns the blocks that a multiprocessor takes.
int resident_blocks() {
  check(cudaFuncSetAttribute(inflate_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(inflate_shared_bytes)),
        "preparing to inflate on the GPU");
  check(cudaFuncSetAttribute(inflate_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "preparing to inflate on the GPU");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, inflate_kernel, inflate_threads,
                                                      inflate_shared_bytes),
        "preparing to inflate on the GPU");
  return blocks;
}

}  // namespace

std::uint64_t resident_inflate_streams() {
  load_kernel(verify_kernel);
  return static_cast<std::uint64_t>(resident_blocks() * multiprocessors()) * inflate_warps *
         inflate::groups;
}

void inflate_streams(const InflateBatch& batch, std::uint64_t in_flight, cudaStream_t stream) {
  if (batch.count == 0) return;
  const auto resident = static_cast<std::uint64_t>(resident_blocks() * multiprocessors());
  const std::uint64_t active =
      std::clamp<std::uint64_t>(ceil_div(in_flight, resident * inflate_warps), 1, inflate::groups);
  const std::uint64_t blocks = std::min(resident, ceil_div(batch.count, active * inflate_warps));
  fill_bytes(batch.next, 0, sizeof(*batch.next), stream);
  launch("starting to inflate on the GPU", inflate_kernel,
         {blocks, inflate_threads, stream, inflate_shared_bytes},
         inflate::InflateWork{batch.streams, batch.outcomes, batch.count, batch.next},
         static_cast<unsigned>(active));
  launch("starting to verify checksums on the GPU", verify_kernel,
         {batch.count, checksum_threads, stream}, batch.streams, batch.outcomes, batch.refused);
}

}  // namespace warpfold::cuda::kernels
