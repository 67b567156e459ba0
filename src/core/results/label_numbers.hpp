#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace warpfold {

/// The number of places that have no label.
inline constexpr std::uint32_t no_label = std::numeric_limits<std::uint32_t>::max();

/// Numbers labels in the order in which they first come. A label is any 64 bits.
class LabelNumbers {
 public:
  /// Returns the number of a label, a new one if it has none yet. The caller ensures that there are
  /// fewer than 2^31.
  std::uint32_t operator()(std::uint64_t label) {
    if (labels_.empty() || label != labels_[last_]) last_ = find(label);
    return last_;
  }

  /// Returns the labels by their numbers.
  std::span<const std::uint64_t> labels() const { return labels_; }
  std::uint64_t size() const { return labels_.size(); }

 private:
  std::uint32_t find(std::uint64_t label);
  std::uint64_t slot_of(std::uint64_t label) const;
  void grow();

  std::uint32_t last_ = 0;             ///< that was requested: equal labels often come in runs
  std::vector<std::uint64_t> labels_;  ///< labels by number
  std::vector<std::uint32_t> slots_;   ///< a power of two of numbers, at least half of them free
};

}  // namespace warpfold
