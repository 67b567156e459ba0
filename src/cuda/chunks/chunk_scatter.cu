#include "cuda/chunks/chunk_scatter.hpp"

#include <algorithm>
#include <bit>

#include "core/layout/partition.hpp"
#include "cuda/chunks/chunk_source.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr int scatter_threads = 256;
constexpr std::uint32_t steps_of_tile = 32;

/// Division of work: each warp takes a tile of a chunk, in two of its dimensions. Elements that
/// come one after the other along `inner` lie together in the chunk, along `lead` in the target:
/// lanes lie side by side along `lead` and go step by step along `inner`, so that what they write
/// together is together, and what they read comes to be from the cache.
struct ScatterShare {
  ChunkAssembly assembly;
  std::uint64_t chunks_behind[max_dimensions];    ///< for a step along each dimension
  std::uint64_t elements_behind[max_dimensions];  ///< in the chunk
  std::uint64_t elements_of_chunk;
  int lead;
  int inner;                 ///< lead where the chunk has only one dimension longer than 1
  std::uint32_t lead_lanes;  ///< a power of two
  std::uint32_t lead_tiles;
  std::uint32_t inner_tiles;
  std::uint64_t tiles;  ///< tiles per chunk

  __host__ __device__ std::uint32_t inner_lanes() const { return warp::lanes / lead_lanes; }
  __host__ __device__ std::uint32_t inner_tile() const { return inner_lanes() * steps_of_tile; }
};

/// Returns the innermost dimension along which a chunk brings more than one element.
int inner_dimension(const ChunkGrid& grid) {
  int inner = grid.dimensions - 1;
  while (inner > 0 && grid.max_selected_of(inner) == 1) --inner;
  return inner;
}

/// Returns the one of such dimensions along which elements come closest in the target.
int lead_dimension(const ChunkAssembly& assembly, int inner) {
  int lead = inner;
  for (int d = 0; d < inner; ++d)
    if (assembly.grid.max_selected_of(d) > 1 &&
        assembly.target.stride[d] < assembly.target.stride[lead])
      lead = d;
  return lead;
}

ScatterShare scatter_share(const ChunkAssembly& assembly) {
  const ChunkGrid& grid = assembly.grid;
  ScatterShare share{};
  share.assembly = assembly;
  share.elements_of_chunk = 1;
  std::uint64_t chunks = 1;
  std::uint64_t brought = 1;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    share.chunks_behind[d] = chunks;
    share.elements_behind[d] = share.elements_of_chunk;
    chunks *= grid.chunks_along(d);
    share.elements_of_chunk *= grid.chunk_extent[d];
    brought *= grid.max_selected_of(d);
  }
  share.inner = inner_dimension(grid);
  share.lead = lead_dimension(assembly, share.inner);
  const std::uint64_t lead_extent =
      share.lead == share.inner ? 1 : grid.max_selected_of(share.lead);
  const std::uint64_t inner_extent = grid.max_selected_of(share.inner);
  share.lead_lanes =
      static_cast<std::uint32_t>(std::bit_ceil(std::min<std::uint64_t>(lead_extent, warp::lanes)));
  share.lead_tiles = static_cast<std::uint32_t>(ceil_div(lead_extent, share.lead_lanes));
  share.inner_tiles = static_cast<std::uint32_t>(ceil_div(inner_extent, share.inner_tile()));
  share.tiles = brought / lead_extent / inner_extent * share.lead_tiles * share.inner_tiles;
  return share;
}

/// A place in a chunk and in the target, found one dimension after the other.
class Position {
 public:
  std::uint64_t place;
  std::uint64_t source = 0;

  __device__ Position(const ScatterShare& share, std::uint64_t chunk)
      : place(std::uint64_t{0} - share.assembly.target.origin), share_(share), chunk_(chunk) {}

  /// Returns how many selected elements the chunk has along a dimension.
  __device__ std::uint64_t present(int d) const { return selected(d).count; }

  /// To the `number`-th of them.
  __device__ void step(int d, std::uint64_t number) {
    const ChunkGrid& grid = share_.assembly.grid;
    const std::uint64_t coordinate = selected(d).first + number;
    place += coordinate * share_.assembly.target.stride[d];
    source += (grid.index_of(d, coordinate) - chunk_along(d) * grid.chunk_extent[d]) *
              share_.elements_behind[d];
  }

 private:
  __device__ std::uint64_t chunk_along(int d) const {
    return chunk_ / share_.chunks_behind[d] % share_.assembly.grid.chunks_along(d);
  }

  __device__ ElementRange selected(int d) const {
    return share_.assembly.grid.selected_of(d, chunk_along(d));
  }

  const ScatterShare& share_;
  std::uint64_t chunk_;
};

/// Takes a lane to its place of the tile in all dimensions but `inner`; false where it has none.
__device__ bool find_row(const ScatterShare& share, std::uint64_t tile, Position& position) {
  const ChunkGrid& grid = share.assembly.grid;
  bool present = true;
  const auto step = [&](int d, std::uint64_t coordinate) {
    present &= coordinate < position.present(d);
    position.step(d, coordinate);
  };
  if (share.lead != share.inner)
    step(share.lead, tile % share.lead_tiles * share.lead_lanes +
                         static_cast<std::uint32_t>(warp::lane()) % share.lead_lanes);
  tile /= share.lead_tiles;
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    if (d == share.lead || d == share.inner) continue;
    step(d, tile % grid.max_selected_of(d));
    tile /= grid.max_selected_of(d);
  }
  return present;
}

template <class Element, class Chunk>
__device__ void scatter(const ScatterShare& share, std::uint64_t number, std::uint64_t tile,
                        const Chunk& chunk) {
  const ChunkAssembly& assembly = share.assembly;
  Position position(share, number);
  if (!find_row(share, tile / share.inner_tiles, position)) return;
  const std::uint64_t tile_first = tile % share.inner_tiles * share.inner_tile();
  const std::uint64_t first =
      tile_first + static_cast<std::uint32_t>(warp::lane()) / share.lead_lanes;
  const std::uint64_t end = min(tile_first + share.inner_tile(), position.present(share.inner));
  const std::uint64_t place_step = share.inner_lanes() * assembly.target.stride[share.inner];
  const std::uint64_t source_step = share.inner_lanes() * assembly.grid.step_along(share.inner) *
                                    share.elements_behind[share.inner];
  position.step(share.inner, first);
  auto* to = reinterpret_cast<Element*>(assembly.elements);
#pragma unroll 4
  for (std::uint64_t at = first; at < end; at += share.inner_lanes()) {
    if (position.place < assembly.target.elements)
      to[position.place] = chunk.element(static_cast<std::uint32_t>(position.source));
    position.place += place_step;
    position.source += source_step;
  }
}

/// Elements as unsigned integers of their size.
template <class Element>
__global__ void __launch_bounds__(scatter_threads, 2)
    scatter_kernel(const __grid_constant__ ScatterShare share) {
  const ChunkAssembly& assembly = share.assembly;
  const std::uint64_t number =
      (std::uint64_t{blockIdx.x} * scatter_threads + threadIdx.x) / warp::lanes;
  if (number >= assembly.count * share.tiles) return;
  const StagedChunk chunk = assembly.chunks[number / share.tiles];
  const std::uint64_t tile = number % share.tiles;
  visit_elements<Element>(assembly, chunk, share.elements_of_chunk, [&](const auto& elements) {
    scatter<Element>(share, chunk.number, tile, elements);
  });
}

template <class Element>
void start(const ScatterShare& share, cudaStream_t stream) {
  constexpr std::uint64_t warps = scatter_threads / warp::lanes;
  const std::uint64_t blocks = ceil_div(share.assembly.count * share.tiles, warps);
  launch("starting the scatter of chunks on the GPU", scatter_kernel<Element>,
         {blocks, scatter_threads, stream}, share);
}

}  // namespace

void load_scatter(std::size_t element_bytes) {
  visit_element_bytes(element_bytes,
                      [](auto element) { load_kernel(scatter_kernel<decltype(element)>); });
}

void scatter_chunks(const ChunkAssembly& assembly, cudaStream_t stream) {
  if (assembly.count == 0) return;
  const ScatterShare share = scatter_share(assembly);
  visit_element_bytes(assembly.element_bytes,
                      [&](auto element) { start<decltype(element)>(share, stream); });
}

}  // namespace warpfold::cuda::kernels
