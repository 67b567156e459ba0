#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/results/accumulator.hpp"
#include "core/scan/scan_spec.hpp"
#include "cuda/tiles/block_view.hpp"

namespace warpfold::cuda {

/// Scans blocks in the memory of one device, the current one when it was made: first a block's
/// total, of which some stays here and in the block's scratch memory, then its prefixes. One block
/// at a time; blocks are not empty.
class ScanMethod {
 public:
  virtual ~ScanMethod() = default;

  /// Returns how many bytes of device memory a block of so many tiles needs beside its elements.
  virtual std::uint64_t scratch_bytes(std::uint64_t tiles) const = 0;

  /// Returns whether a scan of so many elements needs their total() before; where it doesn't,
  /// total() is for those that come later.
  virtual bool needs_total(std::uint64_t elements) const = 0;

  /// Does what ScanEngine::total() does; indices count from the block's start.
  virtual Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                            cudaStream_t stream) = 0;

  /// Does what ScanEngine::scan() does; the place counts from the block's start.
  virtual std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                            const Accumulator& before, cudaStream_t stream) = 0;
};

/// Makes the method for a spec that validate() accepts. Sums of floats that are not to be
/// `reproducible` on every machine are those of OnePassScan: throws Error where it has none of such
/// types, and for elements in the other byte order.
std::unique_ptr<ScanMethod> make_scan_method(const ScanSpec& spec, bool reproducible = true);

}  // namespace warpfold::cuda
