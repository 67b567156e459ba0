#include "pipeline/reduce/axis_tiles.hpp"

#include <exception>
#include <span>

#include "mpi/agreement.hpp"
#include "mpi/message.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {
namespace {

std::span<const std::uint64_t> as_words(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()),
          bytes.size() / sizeof(std::uint64_t)};
}

/// Returns the rank that has an item.
int rank_of(const WorkTiling& tiling, std::uint64_t item, int ranks) {
  int rank = 0;
  while (share_of(tiling.items(), ranks, rank).end() <= item) ++rank;
  return rank;
}

}  // namespace

std::optional<AxisTotals> AxisTiles::add(std::uint64_t tile, std::uint64_t items, AxisParts parts) {
  Partial sum{AxisTotals(values_, needs_, std::move(parts)), items};
  while (sum.items < tiling_.items_of_tile()) {
    const std::optional<Partial> other = exchange(tile, sum);
    if (!other) return std::nullopt;
    sum.totals.merge(other->totals.parts());
    sum.items += other->items;
  }
  return std::move(sum.totals);
}

std::optional<AxisTiles::Partial> AxisTiles::exchange(std::uint64_t tile, Partial& partial) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_first] = partials_.try_emplace(tile, std::move(partial));
  if (is_first) return std::nullopt;
  Partial other = std::move(place->second);
  partials_.erase(place);
  return other;
}

std::optional<std::pair<std::uint64_t, AxisTotals>> AxisTiles::combine(
    const mpi::Communicator& communicator) {
  // Partial tiles are the first and the last of this rank's. Ranks send before they receive, and to
  // lower ones alone, so that no deadlock is possible.
  run_on_all(communicator, [&] { pack_for_others(communicator); });
  for (const Message& each : messages_)
    mpi::send(each.tile, std::as_bytes(std::span(each.words)), communicator, each.to);
  messages_.clear();

  std::optional<std::pair<std::uint64_t, AxisTotals>> completed;
  std::exception_ptr failure;
  for (auto& [tile, partial] : partials_) {
    const int last =
        rank_of(tiling_, (tile + 1) * tiling_.items_of_tile() - 1, communicator.size());
    std::vector<std::byte> bytes;
    for (int other = communicator.rank() + 1; other <= last; ++other) {
      mpi::receive(bytes, communicator, other);
      try {
        partial.totals.merge(as_words(bytes));
      } catch (...) {
        failure = std::current_exception();
      }
    }
    completed.emplace(tile, std::move(partial.totals));
  }
  mpi::throw_on_all_ranks(failure, communicator);
  return completed;
}

void AxisTiles::pack_for_others(const mpi::Communicator& communicator) {
  for (auto next = partials_.begin(); next != partials_.end();) {
    const auto& [tile, partial] = *next;
    const int owner = rank_of(tiling_, tile * tiling_.items_of_tile(), communicator.size());
    if (owner == communicator.rank()) {
      ++next;
      continue;
    }
    messages_.push_back({tile, owner, partial.totals.packed()});
    next = partials_.erase(next);
  }
}

}  // namespace warpfold::pipeline
