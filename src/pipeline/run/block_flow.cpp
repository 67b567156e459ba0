#include "pipeline/run/block_flow.hpp"

#include <algorithm>

namespace warpfold::pipeline {

BlockFlow::BlockFlow(const std::vector<PieceCounts>& blocks, int places, int max_loading,
                     std::uint64_t supplied)
    : pieces_(blocks),
      left_(blocks),
      places_(static_cast<std::uint64_t>(places)),
      max_loading_(max_loading),
      supplied_(supplied) {
  skip_empty(to_load_, false);
  skip_empty(to_store_, true);
}

std::optional<PieceTask> BlockFlow::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || can_load() || can_store() || all_handed_out(); });
  if (stopped_ || all_handed_out()) return std::nullopt;
  // Both ways share the threads where both have work.
  const bool stores = can_store() && (!can_load() || storing_ <= loading_);
  ++(stores ? storing_ : loading_);
  const PieceTask task = next(stores ? to_store_ : to_load_, stores);
  if (all_handed_out()) changed_.notify_all();
  return task;
}

void BlockFlow::finish(const PieceTask& task) {
  const std::lock_guard lock(mutex_);
  PieceCounts& left = left_[task.block];
  const std::uint64_t still = --(task.stores ? left.to_store : left.to_load);
  const bool was_full = !task.stores && loading_ == max_loading_;
  --(task.stores ? storing_ : loading_);
  if (still == 0 || was_full) changed_.notify_all();
}

void BlockFlow::process_pieces(const std::stop_token& stop,
                               const std::function<void(const PieceTask&)>& body) {
  const std::stop_callback stop_flow(stop, [this] { this->stop(); });
  try {
    while (const std::optional<PieceTask> task = take()) {
      body(*task);
      finish(*task);
    }
  } catch (...) {
    this->stop();
    throw;
  }
}

bool BlockFlow::wait_until_loaded(std::uint64_t block, std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return stopped_ || left_[block].to_load == 0; });
  return left_[block].to_load == 0;
}

void BlockFlow::supply(std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  supplied_ = blocks;
  changed_.notify_all();
}

void BlockFlow::computed() {
  const std::lock_guard lock(mutex_);
  ++computed_;
  changed_.notify_all();
}

void BlockFlow::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool BlockFlow::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

bool BlockFlow::can_load() const {
  return to_load_.block < std::min<std::uint64_t>(pieces_.size(), supplied_) &&
         loading_ < max_loading_ && is_free_for(to_load_.block);
}

bool BlockFlow::can_store() const { return to_store_.block < computed_; }

bool BlockFlow::all_handed_out() const {
  return to_load_.block == pieces_.size() && to_store_.block == pieces_.size();
}

bool BlockFlow::is_free_for(std::uint64_t block) const {
  if (block < places_) return true;
  const std::uint64_t holder = block - places_;
  return holder < computed_ && left_[holder].to_store == 0;
}

PieceTask BlockFlow::next(Position& at, bool stores) {
  const PieceTask task{stores, at.block, at.piece};
  ++at.piece;
  skip_empty(at, stores);
  return task;
}

void BlockFlow::skip_empty(Position& at, bool stores) const {
  while (at.block < pieces_.size() && at.piece == pieces(at.block, stores)) at = {at.block + 1, 0};
}

std::uint64_t BlockFlow::pieces(std::uint64_t block, bool stores) const {
  return stores ? pieces_[block].to_store : pieces_[block].to_load;
}

}  // namespace warpfold::pipeline
