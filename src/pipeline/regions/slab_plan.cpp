#include "pipeline/regions/slab_plan.hpp"

#include <algorithm>

#include "io/chunks/chunk_source.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/regions/region_reader.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t kibibyte = 1u << 10;
constexpr std::uint64_t mebibyte = 1u << 20;
constexpr std::uint64_t gibibyte = 1u << 30;

/// Stays in a core's own cache between being read and being reduced.
constexpr std::uint64_t host_slab_bytes = mebibyte;

/// Transfers to a GPU reach their full rate, and the first one starts early.
constexpr std::uint64_t gpu_slab_bytes = 8 * mebibyte;

/// The slots of several ranks on a host stay in its last cache between being filled and being
/// copied, and threads that decompress end at about the same time. (What is decompressed by the GPU
/// is larger there, and dearer slab by slab.)
constexpr std::uint64_t small_gpu_slab_bytes = 4 * mebibyte;

/// Selecting and converting in the library costs little beside such a transfer.
constexpr std::uint64_t library_slab_bytes = 16 * mebibyte;

/// The least that a slab is made smaller to so that all threads have work.
constexpr std::uint64_t shared_slab_bytes = 256 * kibibyte;
constexpr std::uint64_t slabs_per_thread = 4;

/// More threads gain nothing: copying to the GPU is the limit, or the library lets one in at a time
/// while others reduce.
constexpr int max_threads_to_gpu = 12;
constexpr int max_threads_in_library = 4;

/// All slots of a rank have so much memory at most, unless the options ask for more.
constexpr std::uint64_t max_slot_bytes = 2 * gibibyte;

std::uint64_t element_bytes(const io::DatasetInfo& info) { return size_of(info.format.type); }

/// Bytes of the selected elements of all chunks that hold one range of leading indices; 0 for
/// storage without chunks.
std::uint64_t chunk_row_bytes(const io::DatasetInfo& info) {
  if (info.chunk_shape.empty()) return 0;
  const ChunkGrid grid = unmerged_grid(info.stored_shape, info.chunk_shape, io::selection_of(info));
  std::uint64_t bytes = grid.max_selected_of(0) * element_bytes(info);
  for (int d = 1; d < grid.dimensions; ++d) bytes *= grid.selected_along(d);
  return bytes;
}

int wanted_threads(const io::DatasetInfo& info, const ThreadResources& resources) {
  if (info.path == ReadPath::library)
    return resources.gpu ? 1 : std::min(resources.threads, max_threads_in_library);
  const bool bytes_alone = info.path == ReadPath::direct;
  return resources.gpu && bytes_alone ? std::min(resources.threads, max_threads_to_gpu)
                                      : resources.threads;
}

std::uint64_t favoured_slab_bytes(const io::DatasetInfo& info, const ThreadResources& resources,
                                  int ranks) {
  if (info.path == ReadPath::library) return library_slab_bytes;
  if (!resources.gpu) return host_slab_bytes;
  const bool brings_stored_bytes = info.path == ReadPath::direct || io::left_form(info);
  return ranks == 1 && brings_stored_bytes ? gpu_slab_bytes : small_gpu_slab_bytes;
}

std::uint64_t wanted_slab_bytes(const io::DatasetInfo& info, const ThreadResources& resources,
                                int threads, int ranks) {
  const auto all_threads = static_cast<std::uint64_t>(ranks) * static_cast<std::uint64_t>(threads);
  const std::uint64_t fair = info.elements * element_bytes(info) / (all_threads * slabs_per_thread);
  return std::clamp(fair, shared_slab_bytes, favoured_slab_bytes(info, resources, ranks));
}

/// Whole chunk rows where that fits, so that the library undoes no chunk's filters twice.
std::uint64_t whole_chunk_rows(const io::DatasetInfo& info, std::uint64_t slab_bytes) {
  const std::uint64_t row = chunk_row_bytes(info);
  const bool fits = info.path == ReadPath::library && row > 0 && row <= slab_bytes;
  return fits ? slab_bytes - slab_bytes % row : slab_bytes;
}

/// Most threads whose slots of `slot_bytes` stay within the bound.
int max_threads_in_memory(int slots_per_thread, std::uint64_t slot_bytes) {
  const std::uint64_t of_thread = static_cast<std::uint64_t>(slots_per_thread) * slot_bytes;
  return static_cast<int>(std::max<std::uint64_t>(1, max_slot_bytes / of_thread));
}

/// Returns the bytes of a slab's slot, which holds a chunk at least where these are read one by
/// one.
std::uint64_t slot_bytes(const io::DatasetInfo& info, std::uint64_t slab_bytes) {
  const bool by_chunks = info.path != ReadPath::library && !info.chunk_shape.empty();
  return by_chunks ? std::max(slab_bytes, io::chunk_bytes_of(info)) : slab_bytes;
}

Tiling tile_slabs(const io::DatasetInfo& info, std::uint64_t slab_elements) {
  if (!reads_chunks(info)) return {info.elements, slab_elements};
  const ChunkGrid grid = io::grid_of(info);
  return tile_chunks(grid, std::max<std::uint64_t>(1, slab_elements / grid.chunk_elements()));
}

}  // namespace

SlabTiling::SlabTiling(const io::DatasetInfo& info, std::uint64_t slab_elements)
    : in_chunks(reads_chunks(info)),
      slabs(tile_slabs(info, slab_elements)),
      max_elements(in_chunks ? max_elements_of(slabs, io::grid_of(info)) : slabs.max_places()) {}

std::uint64_t SlabTiling::staging_bytes(const RegionSource& source) const {
  return in_chunks ? source.bytes_of_chunks(slabs.max_places())
                   : source.bytes_of_range(max_elements);
}

std::uint64_t slab_bytes_of(const RunOptions& options) {
  return options.slab_bytes > 0 ? options.slab_bytes : library_slab_bytes;
}

SlabPlan plan_slabs(const io::DatasetInfo& info, const RunOptions& options,
                    const ThreadResources& resources, int ranks) {
  SlabPlan plan;
  plan.threads = options.threads > 0 ? options.threads : wanted_threads(info, resources);
  // On the host a slab is reduced as soon as it is read, by the same thread.
  plan.slots_per_thread = resources.gpu ? 2 : 1;
  const std::uint64_t wanted = options.slab_bytes > 0
                                   ? options.slab_bytes
                                   : wanted_slab_bytes(info, resources, plan.threads, ranks);
  const std::uint64_t slab_bytes = whole_chunk_rows(info, wanted);
  plan.slab_elements = std::max<std::uint64_t>(1, slab_bytes / element_bytes(info));
  if (options.threads == 0)
    plan.threads = std::min(
        plan.threads, max_threads_in_memory(plan.slots_per_thread, slot_bytes(info, slab_bytes)));
  return plan;
}

SlabPlan plan_slabs(const io::DatasetInfo& info, const Run& run) {
  return plan_slabs(info, run.options, {run.place.threads, run.place.gpu.has_value()},
                    run.communicator.size());
}

int threads_for(const SlabPlan& plan, std::uint64_t slabs) {
  return static_cast<int>(std::min(static_cast<std::uint64_t>(plan.threads), slabs));
}

int slots_for(const SlabPlan& plan, int threads) {
  return std::max(1, threads * plan.slots_per_thread);
}

}  // namespace warpfold::pipeline
