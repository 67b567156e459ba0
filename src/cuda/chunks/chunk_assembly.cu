#include "cuda/chunks/chunk_assembly.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "cuda/chunks/chunk_source.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr int assembly_threads = 256;
constexpr std::uint32_t vectors_of_warp = 4 * warp::lanes;

/// Division of work: each warp takes a part of a chunk. Work is counted in the vectors of 16
/// bytes of the target, aligned there, that a row of a chunk may meet.
struct AssemblyShare {
  ChunkAssembly assembly;
  std::uint64_t chunks_behind[max_dimensions];  ///< for a step along each dimension
  std::uint64_t elements_of_chunk;
  std::uint32_t row_elements;
  std::uint32_t row_vectors;
  std::uint32_t chunk_vectors;
  std::uint32_t parts;  ///< parts per chunk
};

AssemblyShare share_of(const ChunkAssembly& assembly) {
  const ChunkGrid& grid = assembly.grid;
  AssemblyShare share{};
  share.assembly = assembly;
  share.elements_of_chunk = 1;
  std::uint64_t chunks = 1;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    share.chunks_behind[d] = chunks;
    chunks *= grid.chunks_along(d);
    share.elements_of_chunk *= grid.chunk_extent[d];
  }
  const std::uint64_t vector_elements = sizeof(uint4) / assembly.element_bytes;
  share.row_elements = static_cast<std::uint32_t>(grid.chunk_extent[grid.dimensions - 1]);
  share.row_vectors =
      static_cast<std::uint32_t>(ceil_div(share.row_elements - 1, vector_elements) + 1);
  share.chunk_vectors =
      static_cast<std::uint32_t>(share.elements_of_chunk / share.row_elements * share.row_vectors);
  share.parts = std::max(share.chunk_vectors / vectors_of_warp, 1u);
  return share;
}

/// Part of a row: elements that lie together in their chunk and in the target.
struct RowPart {
  std::uint64_t place;   ///< place of its first element
  std::uint32_t source;  ///< its number in the chunk
  std::uint32_t count;

  __device__ std::uint64_t end() const { return place + count; }
};

/// Destination of one chunk's rows. Lane d of the warp knows dimension d.
class ChunkPlace {
 public:
  __device__ ChunkPlace(const AssemblyShare& share, std::uint64_t number) : share_(share) {
    const ChunkGrid& grid = share.assembly.grid;
    const ChunkTarget& target = share.assembly.target;
    const int d = warp::lane();
    std::uint64_t offset = 0;
    if (d < grid.dimensions) {
      const std::uint64_t coordinate = number / share.chunks_behind[d] % grid.chunks_along(d);
      const std::uint64_t first = coordinate * grid.chunk_extent[d];
      present_ = static_cast<std::uint32_t>(min(grid.chunk_extent[d], grid.extent[d] - first));
      offset = first * target.stride[d];
    }
    const auto plus = [](std::uint64_t a, std::uint64_t b) { return a + b; };
    first_ = warp::reduce_xor(offset, plus) - target.origin;
  }

  /// Returns the elements of a row that have a place. By all lanes.
  __device__ RowPart run(std::uint32_t row) const {
    const ChunkAssembly& assembly = share_.assembly;
    const int last = assembly.grid.dimensions - 1;
    bool present = true;
    std::uint64_t place = first_;
    std::uint32_t rows = row;
    for (int d = last - 1; d >= 0; --d) {
      const auto extent = static_cast<std::uint32_t>(assembly.grid.chunk_extent[d]);
      const std::uint32_t coordinate = rows % extent;
      rows /= extent;
      present &= coordinate < warp::shuffle(present_, d);
      place += coordinate * assembly.target.stride[d];
    }
    const auto count = static_cast<std::int64_t>(warp::shuffle(present_, last));
    const auto first = static_cast<std::int64_t>(place);
    const std::int64_t begin = max(-first, std::int64_t{0});
    const std::int64_t end =
        min(count, static_cast<std::int64_t>(assembly.target.elements) - first);
    if (!present || begin >= end) return {0, 0, 0};
    return {static_cast<std::uint64_t>(first + begin),
            row * share_.row_elements + static_cast<std::uint32_t>(begin),
            static_cast<std::uint32_t>(end - begin)};
  }

 private:
  const AssemblyShare& share_;
  std::uint32_t present_ = 0;  ///< elements of the chunk along the lane's dimension
  std::uint64_t first_;        ///< place of the chunk's first element, modulo 2^64
};

/// Stores the elements for places [begin, end), fewer than a vector: in words where they fill some.
template <class Element, class Chunk>
__device__ void store_some(std::byte* elements, std::uint64_t begin, std::uint64_t end,
                           std::uint32_t source, const Chunk& chunk) {
  constexpr unsigned word_elements = sizeof(std::uint32_t) / sizeof(Element);
  auto* to = reinterpret_cast<Element*>(elements);
#pragma unroll 1
  while (begin < end) {
    if constexpr (word_elements > 1) {
      if (begin % word_elements == 0 && end - begin >= word_elements) {
        reinterpret_cast<std::uint32_t*>(elements)[begin / word_elements] = chunk.word(source);
        begin += word_elements;
        source += word_elements;
        continue;
      }
    }
    to[begin++] = chunk.element(source++);
  }
}

/// Stores what a run has of its `number`-th vector of the target.
template <class Element, class Chunk>
__device__ void store_vector(std::byte* elements, const RowPart& run, std::uint32_t number,
                             const Chunk& chunk) {
  constexpr unsigned vector_elements = sizeof(uint4) / sizeof(Element);
  const std::uint64_t vector = run.place / vector_elements + number;
  const std::uint64_t begin = max(vector * vector_elements, run.place);
  const std::uint64_t end = min((vector + 1) * vector_elements, run.end());
  if (begin >= end) return;
  const std::uint32_t source = run.source + static_cast<std::uint32_t>(begin - run.place);
  if (end - begin == vector_elements) {
    reinterpret_cast<uint4*>(elements)[vector] = chunk.vector(source);
    return;
  }
  store_some<Element>(elements, begin, end, source, chunk);
}

/// A warp's part of a chunk.
template <class Element, class Chunk>
__device__ void assemble(const AssemblyShare& share, const ChunkPlace& place, std::uint32_t part,
                         const Chunk& chunk) {
  const std::uint32_t per_part = ceil_div(share.chunk_vectors, share.parts);
  const std::uint32_t end = min((part + 1) * per_part, share.chunk_vectors);
  for (std::uint32_t first = part * per_part; first < end; first += warp::lanes) {
    const std::uint32_t vector = first + static_cast<std::uint32_t>(warp::lane());
    const RowPart run = place.run(vector / share.row_vectors);
    if (vector < end)
      store_vector<Element>(share.assembly.elements, run, vector % share.row_vectors, chunk);
  }
}

/// Elements as unsigned integers of their size.
template <class Element>
__global__ void __launch_bounds__(assembly_threads)
    assembly_kernel(const __grid_constant__ AssemblyShare share) {
  const ChunkAssembly& assembly = share.assembly;
  const std::uint64_t number =
      (std::uint64_t{blockIdx.x} * assembly_threads + threadIdx.x) / warp::lanes;
  if (number >= assembly.count * share.parts) return;
  const StagedChunk chunk = assembly.chunks[number / share.parts];
  const auto part = static_cast<std::uint32_t>(number % share.parts);
  const ChunkPlace place(share, chunk.number);
  visit_elements<Element>(assembly, chunk, share.elements_of_chunk, [&](const auto& elements) {
    assemble<Element>(share, place, part, elements);
  });
}

template <class Element>
void start(const AssemblyShare& share, cudaStream_t stream) {
  constexpr std::uint64_t warps = assembly_threads / warp::lanes;
  const std::uint64_t blocks = ceil_div(share.assembly.count * share.parts, warps);
  launch("starting the assembly of chunks on the GPU", assembly_kernel<Element>,
         {blocks, assembly_threads, stream}, share);
}

}  // namespace

void load_assembly(std::size_t element_bytes) {
  visit_element_bytes(element_bytes,
                      [](auto element) { load_kernel(assembly_kernel<decltype(element)>); });
}

void assemble_chunks(const ChunkAssembly& assembly, cudaStream_t stream) {
  if (assembly.count == 0) return;
  const AssemblyShare share = share_of(assembly);
  visit_element_bytes(assembly.element_bytes,
                      [&](auto element) { start<decltype(element)>(share, stream); });
}

}  // namespace warpfold::cuda::kernels
