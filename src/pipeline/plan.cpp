#include "pipeline/plan.hpp"

#include <algorithm>

#include "pipeline/backend_choice.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/dataset_info_exchange.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::uint64_t smallest_slab_bytes = 4u << 10;
constexpr std::uint64_t largest_slab_bytes = 1u << 30;
constexpr std::uint64_t smallest_granule = 4096;

/// Elements of all chunks that hold one range of leading indices; 0 for storage without chunks.
std::uint64_t chunk_row_elements(const io::DatasetInfo& info) {
  if (info.chunk_shape.empty()) return 0;
  std::uint64_t elements = info.chunk_shape.front();
  for (std::size_t i = 1; i < info.shape.size(); ++i) elements *= info.shape[i];
  return elements;
}

}  // namespace

void check_slab_bytes(std::uint64_t slab_bytes) {
  if (slab_bytes < smallest_slab_bytes || slab_bytes > largest_slab_bytes)
    throw usage_error("bad --slab " + std::to_string(slab_bytes), "a slab has 4K to 1G bytes",
                      "Try --slab 16M.");
}

SlabCut cut_into_slabs(const io::DatasetInfo& info, std::uint64_t slab_bytes, int ranks) {
  SlabCut cut;
  cut.slab_elements = std::max<std::uint64_t>(1, slab_bytes / size_of(info.format.type));
  cut.granule = std::min(smallest_granule, cut.slab_elements);
  const std::uint64_t row = chunk_row_elements(info);
  if (row == 0) return cut;
  if (row <= cut.slab_elements) cut.slab_elements -= cut.slab_elements % row;
  if (info.elements / row >= static_cast<std::uint64_t>(ranks)) cut.granule = row;
  return cut;
}

Plan plan_reduce(MPI_Comm parent, const io::DatasetInfo& info, const RunOptions& options) {
  const mpi::Communicator communicator(parent);
  run_on_all(communicator, [&] { check_slab_bytes(options.slab_bytes); });
  const io::DatasetInfo shared = share_from_root(info, communicator);
  const ChosenBackend chosen = choose_backend(options, communicator);
  const SlabCut cut = cut_into_slabs(shared, options.slab_bytes, communicator.size());
  const ElementRange largest =
      partition(shared.elements, cut.granule, static_cast<std::uint64_t>(communicator.size()), 0);
  constexpr std::uint64_t fold_slots = 3;
  Plan plan;
  plan.run = describe_run(chosen, communicator);
  plan.slab_elements = std::min(cut.slab_elements, std::max<std::uint64_t>(1, largest.count));
  plan.slabs_per_rank = ceil_div(largest.count, plan.slab_elements);
  plan.host_memory_bytes = fold_slots * plan.slab_elements * size_of(shared.format.type);
  return plan;
}

}  // namespace warpfold::pipeline
