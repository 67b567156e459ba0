#include "io/chunks/known_chunks.hpp"

#include <algorithm>

namespace warpfold::io {

void KnownChunks::include(ChunkRun more) {
  const std::lock_guard lock(mutex_);
  if (find_included(more.first) == nullptr || find_included(more.end() - 1) == nullptr)
    included_.push_back({more, read_(more)});
}

const StoredChunk* KnownChunks::find(std::uint64_t position) const {
  if (const StoredChunk* const mine = mine_.find(position)) return mine;
  const std::lock_guard lock(mutex_);
  return find_included(position);
}

std::uint64_t KnownChunks::max_bytes() const {
  const auto& chunks = mine_.chunks;
  return chunks.empty() ? 0 : std::ranges::max(chunks, {}, &StoredChunk::bytes).bytes;
}

const StoredChunk* KnownChunks::find_included(std::uint64_t position) const {
  for (const Run& each : included_)
    if (const StoredChunk* const found = each.find(position)) return found;
  return nullptr;
}

}  // namespace warpfold::io
