#include "pipeline/regions/chunk_window.hpp"

namespace warpfold::pipeline {

ChunkWindow::ChunkWindow(std::uint64_t chunks, std::size_t slots)
    : chunks_(chunks), slots_(slots) {}

std::optional<std::uint64_t> ChunkWindow::claim(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool has_room = room_.wait(
      lock, stop, [this] { return claimed_ == chunks_ || claimed_ - released_ < slots_.size(); });
  if (!has_room || claimed_ == chunks_) return std::nullopt;
  return claimed_++;
}

void ChunkWindow::put(std::uint64_t number, const io::EncodedChunk& chunk) {
  Slot& slot = slot_of(number);
  slot.bytes.assign(chunk.bytes.begin(), chunk.bytes.end());
  slot.skipped_filters = chunk.skipped_filters;
  {
    const std::lock_guard lock(mutex_);
    slot.full = true;
  }
  made_.notify_one();
}

std::optional<io::EncodedChunk> ChunkWindow::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const Slot& slot = slot_of(released_);
  if (!made_.wait_for(lock, patience, [&] { return slot.full; })) return std::nullopt;
  return io::EncodedChunk{slot.bytes, slot.skipped_filters};
}

void ChunkWindow::release() {
  {
    const std::lock_guard lock(mutex_);
    slot_of(released_++).full = false;
  }
  room_.notify_all();
}

}  // namespace warpfold::pipeline
