#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "warpfold/core/element_type.hpp"

/// Choice of what a benchmark measures: the names and sizes that were requested, as far as there is
/// room.
namespace warpfold::bench {

/// Returns the names that were requested, or `usual` where none were. Throws a usage Error for one
/// that is not among `all`.
std::vector<std::string> chosen_names(std::string_view what, const std::vector<std::string>& asked,
                                      const std::vector<std::string>& all,
                                      const std::vector<std::string>& usual);

/// Returns the element types that were requested, or `usual` where none were. Throws a usage Error.
std::vector<ElementType> chosen_types(const std::vector<std::string>& asked,
                                      const std::vector<ElementType>& usual);

/// Returns the kernels that were requested, of those that `variants` name and `others`; all where
/// none were. Throws a usage Error.
template <class Variants>
std::vector<std::string> chosen_kernels(const std::vector<std::string>& asked,
                                        const Variants& variants,
                                        const std::vector<std::string>& others) {
  std::vector<std::string> names;
  for (const auto& variant : variants) names.push_back(variant.name);
  names.insert(names.end(), others.begin(), others.end());
  return chosen_names("kernel", asked, names, names);
}

bool contains(const std::vector<std::string>& names, std::string_view name);

/// Returns `asked`, or sizes from 1 KiB to 4 GiB where it is empty.
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

/// Plans `arrays` arrays in `memory_bytes`, rotating through `rotation` bytes where there is room.
SizePlan plan_sizes(const std::vector<std::uint64_t>& ascending_sizes, std::uint64_t arrays,
                    std::uint64_t memory_bytes, std::uint64_t rotation);

/// Equal parts of an array, each for one launch; they start at multiples of 256 bytes.
class Windows {
 public:
  /// Makes one part, at the start of the array.
  Windows() = default;

  /// `capacity` holds one part at least.
  Windows(std::uint64_t capacity, std::uint64_t part_bytes);

  std::uint64_t offset(std::uint64_t launch) const { return launch % count_ * stride_; }

 private:
  std::uint64_t stride_ = 0;
  std::uint64_t count_ = 1;
};

}  // namespace warpfold::bench
