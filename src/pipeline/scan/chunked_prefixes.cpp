#include "pipeline/scan/chunked_prefixes.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// Longest time in which the end of a run is not noticed.
constexpr std::chrono::milliseconds block_patience{5};

constexpr std::uint64_t stretch_batch_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t batches_of_block = 4;  ///< fewest of a block

}  // namespace

ChunkedPrefixes::ChunkedPrefixes(const ChunkedBlocks& plan, const std::vector<PieceCounts>& pieces,
                                 StageRegistry& stages, const mpi::Communicator& communicator)
    : plan_(plan),
      rank_(communicator.rank()),
      ranks_(static_cast<std::uint64_t>(communicator.size())),
      element_bytes_(size_of(plan.output.spec().format.type)),
      job_(job()) {
  for (std::uint64_t block = 0; block < pieces.size(); ++block) {
    firsts_.push_back(plan.blocks.range(number_of(block, rank_)).first);
    left_.push_back(pieces[block].to_store);
  }
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(plan.in_memory, pieces.size()); ++i)
    memory_.emplace_back(plan.blocks.max_places() * element_bytes_);
  if (communicator.is_root()) std::memset(memory_of(0), 0, plan.zeros * element_bytes_);
  packer_.emplace(job_, stretches(), stages, communicator);
  supply_blocks();
}

void ChunkedPrefixes::store(std::uint64_t block, std::uint64_t first,
                            std::span<const std::byte> prefixes) {
  const std::uint64_t in_memory = memory_.size();
  while (block >= in_memory && !packer_->made(block - in_memory, block_patience))
    if (is_closed_) return;
  std::memcpy(place_of(block, first + plan_.zeros), prefixes.data(), prefixes.size());
  const std::lock_guard lock(mutex_);
  if (--left_[block] == 0) supply_blocks();
}

void ChunkedPrefixes::supply_blocks() {
  while (supplied_ < left_.size() && left_[supplied_] == 0) ++supplied_;
  packer_->supply(supplied_);
}

std::uint64_t ChunkedPrefixes::number_of(std::uint64_t block, int rank) const {
  return block * ranks_ + static_cast<std::uint64_t>(rank);
}

std::byte* ChunkedPrefixes::memory_of(std::uint64_t block) const {
  return memory_[block % memory_.size()].span().data();
}

PackJob ChunkedPrefixes::job() {
  const io::OutputSpec& spec = plan_.output.spec();
  const auto make_source = [this]() -> StretchSource {
    return [this](std::uint64_t block, ElementRange range, std::span<std::byte> out) {
      std::memcpy(out.data(), place_of(block, range.first), out.size());
    };
  };
  return {plan_.output.staged(), spec.shape, spec.storage, element_bytes_,
          make_source,           {},         plan_.threads};
}

Stretches ChunkedPrefixes::stretches() const {
  Stretches stretches;
  stretches.count = left_.size();
  stretches.run = [this](std::uint64_t block, int rank) {
    return plan_.rows.chunks_of(plan_.blocks, number_of(block, rank));
  };
  // Small chunks are made several at a time, but so that every thread makes some.
  const std::uint64_t chunk_bytes = plan_.rows.chunk_elements() * element_bytes_;
  const std::uint64_t for_all = plan_.rows.chunks_of(plan_.blocks, 0).count /
                                (batches_of_block * static_cast<std::uint64_t>(plan_.threads));
  stretches.batch_chunks =
      std::max<std::uint64_t>(1, std::min(stretch_batch_bytes / chunk_bytes, for_all));
  stretches.in_memory = plan_.in_memory;
  return stretches;
}

}  // namespace warpfold::pipeline
