#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cuda/kernels/block_view.hpp"
#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/scan_spec.hpp"

namespace warpfold::cuda {

/// How one kind of scan treats a block in device memory: first its total, whose parts for each tile
/// stay in the block's scratch memory, then its prefixes. Has no state of its own, so that several
/// threads may use it, each for a block of its own. Blocks are not empty.
class ScanMethod {
 public:
  virtual ~ScanMethod() = default;

  /// Device memory a block of so many tiles needs beside its elements.
  virtual std::uint64_t scratch_bytes(std::uint64_t tiles) const = 0;

  /// As ScanEngine::total(); indices count from the block's start.
  virtual Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                            cudaStream_t stream) const = 0;

  /// As ScanEngine::scan(); the place counts from the block's start.
  virtual std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                            const Accumulator& before,
                                            cudaStream_t stream) const = 0;
};

std::unique_ptr<ScanMethod> make_scan_method(const ScanSpec& spec);

}  // namespace warpfold::cuda
