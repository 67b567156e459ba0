#pragma once

#include <cstdint>
#include <optional>

#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/download.hpp"
#include "cuda/tiles/block_view.hpp"
#include "warpfold/core/scan_spec.hpp"

namespace warpfold::cuda {

/// Finds the first integer of a scan that its output type can't hold, where the scan asks for it.
class FirstOverflow {
 public:
  /// `index` is in device memory and written to in the stream's order.
  FirstOverflow(const ScanSpec& spec, unsigned long long* index, cudaStream_t stream)
      : check_{spec.overflow == OverflowPolicy::error && is_integer(spec.input.type) &&
                   is_integer(spec.output),
               index},
        stream_(stream) {
    if (check_.enabled) fill_bytes(index, 0xff, sizeof(*index), stream);
  }

  const kernels::OverflowCheck& check() const { return check_; }

  /// To be called after the scan.
  std::optional<std::uint64_t> result() const {
    if (!check_.enabled) return std::nullopt;
    const auto index = downloaded_value<unsigned long long>(check_.first_index, stream_);
    if (index == ~0ull) return std::nullopt;
    return index;
  }

 private:
  kernels::OverflowCheck check_;
  cudaStream_t stream_;
};

}  // namespace warpfold::cuda
