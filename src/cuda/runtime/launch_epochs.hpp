#pragma once

#include <cstdint>

namespace warpfold::cuda {

/// Numbers what launches leave in a workspace, so that none takes an earlier one's words for its
/// own. Epochs begin with 1: a workspace of zeros is of none.
class LaunchEpochs {
 public:
  static constexpr std::uint32_t last = ~std::uint32_t{0} - 1;

  struct Range {
    std::uint32_t first;
    bool over_again;  ///< the workspace is to be cleared before the launch
  };

  /// The next `count` epochs, fewer than `last`. The workspace has never been cleared at first.
  Range take(std::uint32_t count) {
    const bool over_again = next_ == 0 || count > last - next_ + 1;
    const std::uint32_t first = over_again ? 1 : next_;
    next_ = first + count;
    return {first, over_again};
  }

 private:
  std::uint32_t next_ = 0;
};

}  // namespace warpfold::cuda
