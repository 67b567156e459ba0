#include "pipeline/run/host_items.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "core/layout/tiling.hpp"

namespace warpfold::pipeline {

HostItems::HostItems(const mpi::Communicator& communicator)
    : next_(communicator), ranks_(communicator.size()), shares_(next_.ranks().size()) {
  while (next_.ranks()[mine_] != communicator.rank()) ++mine_;
}

void HostItems::begin(std::uint64_t items, int threads) {
  threads_ = static_cast<std::uint64_t>(threads);
  for (std::size_t place = 0; place < shares_.size(); ++place)
    shares_[place] = share_of(items, ranks_, next_.ranks()[place]);
  next_.at(mine_) = shares_[mine_].first;
  next_.meet();
}

std::optional<HostItems::Item> HostItems::next() {
  const std::uint64_t own = next_.at(mine_).fetch_add(1);
  if (own < shares_[mine_].end()) return Item{own, {}};
  while (const auto place = richest()) {
    const std::uint64_t number = next_.at(*place).fetch_add(1);
    const ElementRange& share = shares_[*place];
    if (number >= share.end()) continue;
    // Includes earlier items, which other threads of this rank may still have to read.
    const std::uint64_t first = number - std::min(number - share.first, threads_);
    return Item{number, {first, share.end() - first}};
  }
  return std::nullopt;
}

std::uint64_t HostItems::left() const {
  std::uint64_t all = 0;
  for (std::size_t place = 0; place < shares_.size(); ++place) all += left_of(place);
  return ceil_div(all, shares_.size());
}

std::uint64_t HostItems::left_of(std::size_t place) const {
  const std::uint64_t next = next_.at(place);
  return next < shares_[place].end() ? shares_[place].end() - next : 0;
}

/// The threads of a rank take as many items next as they are.
std::optional<std::size_t> HostItems::richest() const {
  std::size_t found = mine_;
  std::uint64_t most = threads_;
  for (std::size_t place = 0; place < shares_.size(); ++place) {
    const std::uint64_t left = left_of(place);
    if (place == mine_ || left <= most) continue;
    found = place;
    most = left;
  }
  return found == mine_ ? std::nullopt : std::optional(found);
}

}  // namespace warpfold::pipeline
