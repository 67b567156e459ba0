#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::bench {

/// `least`, every power of 4 between, and `greatest`.
std::vector<std::uint64_t> powers_of_4(std::uint64_t minimum, std::uint64_t maximum);

/// `asked`, or from 1 KiB to 4 GiB where it is empty.
std::vector<std::uint64_t> sizes_or_usual(const std::vector<std::uint64_t>& asked);

/// Launches go through so many bytes before they meet the same again: several times any L2 cache.
inline constexpr std::uint64_t rotation_bytes = std::uint64_t{512} << 20;

/// Which sizes fit, and how much each array takes so that launches can go from one part of it to
/// the next rather than find their data in a cache.
struct SizePlan {
  std::vector<std::uint64_t> fitting;
  std::vector<std::uint64_t> too_large;
  std::uint64_t capacity = 0;  ///< bytes of each array, a multiple of 256
};

/// For `arrays` arrays in `memory_bytes`, rotating through `rotation` bytes where there is room.
SizePlan plan_sizes(const std::vector<std::uint64_t>& ascending_sizes, std::uint64_t arrays,
                    std::uint64_t memory_bytes, std::uint64_t rotation);

/// Equal parts of an array, each for one launch; they start at multiples of 256 bytes.
class Windows {
 public:
  /// `capacity` holds one part at least.
  Windows(std::uint64_t capacity, std::uint64_t part_bytes);

  std::uint64_t offset(std::uint64_t launch) const { return launch % count_ * stride_; }

 private:
  std::uint64_t stride_;
  std::uint64_t count_;
};

}  // namespace warpfold::bench
