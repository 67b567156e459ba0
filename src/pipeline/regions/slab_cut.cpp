#include "pipeline/regions/slab_cut.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {

SlabCut::SlabCut(const io::DatasetInfo& info, std::uint64_t slab_elements)
    : elements_(info.elements), slab_elements_(slab_elements) {
  const bool chunk_by_chunk =
      info.layout == io::Layout::chunked && info.path != ReadPath::library && elements_ > 0;
  if (!chunk_by_chunk) return;
  const ChunkGrid grid = io::grid_of(info);
  max_chunks_ = std::max<std::uint64_t>(1, slab_elements / grid.chunk_elements());
  boxes_.emplace(grid, max_chunks_);
}

std::uint64_t SlabCut::slabs() const {
  return boxes_ ? boxes_->boxes() : ceil_div(elements_, slab_elements_);
}

std::uint64_t SlabCut::max_elements() const {
  return boxes_ ? boxes_->max_elements() : std::min(slab_elements_, elements_);
}

ElementRange SlabCut::share(int ranks, int rank) const {
  return partition(slabs(), 1, static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(rank));
}

ElementRange SlabCut::range(std::uint64_t slab) const {
  return block_range(elements_, slab_elements_, slab);
}

ChunkRun SlabCut::chunks(ElementRange slabs) const {
  if (slabs.count == 0) return {};
  const std::uint64_t first = boxes_->run(slabs.first).first;
  return {first, boxes_->run(slabs.end() - 1).end() - first};
}

}  // namespace warpfold::pipeline
