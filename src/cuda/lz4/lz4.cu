#include "cuda/lz4/lz4.hpp"

#include <algorithm>
#include <utility>

#include "core/layout/partition.hpp"
#include "cuda/primitives/device_warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda::kernels {
namespace {

__device__ void refuse(const Lz4Refusals& refused, std::uint32_t chunk) {
  if (atomicExch(refused.of_chunks + chunk, 1u) == 0) atomicAdd(refused.chunks, 1u);
}

constexpr int list_threads = 32;

/// A thread for each chunk: what it waits for is the memory, as the others do.
__global__ void __launch_bounds__(list_threads)
    list_kernel(const __grid_constant__ Lz4Chunks chunks) {
  const std::uint32_t number = blockIdx.x * list_threads + threadIdx.x;
  if (number >= chunks.count) return;
  lz4::Block* const blocks = chunks.blocks + std::uint64_t{number} * chunks.form.blocks;
  if (!lz4::BlockList(chunks.chunks[number], number, chunks.form, blocks).fill())
    refuse(chunks.refused, number);
}

constexpr int lz4_threads = 128;
constexpr int lz4_warps = lz4_threads / warp::lanes;

template <std::uint32_t element_bytes>
__global__ void __launch_bounds__(lz4_threads) lz4_kernel(const __grid_constant__ Lz4Blocks all) {
  constexpr std::uint32_t plane_bytes = element_bytes == 0 ? 16 : max_bit_plane_bytes;
  alignas(16) __shared__ std::uint8_t planes[lz4_warps][plane_bytes];
  while (true) {
    std::uint32_t number = 0;
    if (warp::lane() == 0) number = DeviceWarp::take(all.next, 1);
    number = warp::shuffle(number, 0);
    if (number >= all.count) return;
    const lz4::Block block = all.blocks[number];
    if (block.out_bytes == 0) continue;
    const bool good = lz4::make<DeviceWarp, element_bytes>(block, planes[warp::index()]);
    if (!good && warp::lane() == 0) refuse(all.refused, block.chunk);
  }
}

/// Calls visit(kernel).
template <class Visit>
void visit_kernel(std::uint32_t bit_element_bytes, Visit&& visit) {
  switch (bit_element_bytes) {
    case 0:
      return visit(lz4_kernel<0>);
    case 1:
      return visit(lz4_kernel<1>);
    case 2:
      return visit(lz4_kernel<2>);
    case 4:
      return visit(lz4_kernel<4>);
    default:
      return visit(lz4_kernel<8>);
  }
}

}  // namespace

void load_lz4(std::uint32_t bit_element_bytes) {
  load_kernel(list_kernel);
  visit_kernel(bit_element_bytes, [](auto* kernel) { load_kernel(kernel); });
}

void list_lz4_blocks(const Lz4Chunks& chunks, cudaStream_t stream) {
  if (chunks.count == 0) return;
  launch("starting to take chunks of LZ4 apart on the GPU", list_kernel,
         {ceil_div(chunks.count, std::uint32_t{list_threads}), list_threads, stream}, chunks);
}

void decode_lz4_blocks(const Lz4Blocks& blocks, cudaStream_t stream) {
  if (blocks.count == 0) return;
  fill_bytes(blocks.next, 0, sizeof(*blocks.next), stream);
  visit_kernel(blocks.bit_element_bytes, [&](auto* kernel) {
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, lz4_threads, 0),
          "preparing to decode LZ4 on the GPU");
    const auto most = static_cast<std::uint32_t>(resident * multiprocessors());
    const std::uint32_t wanted = ceil_div(blocks.count, std::uint32_t{lz4_warps});
    launch("starting to decode LZ4 on the GPU", kernel,
           {std::min(most, wanted), lz4_threads, stream}, blocks);
  });
}

}  // namespace warpfold::cuda::kernels
