#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/results/accumulator.hpp"
#include "core/scan/scan_spec.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// One thread's scan of consecutive tiles.
class RangeScanner {
 public:
  virtual ~RangeScanner() = default;

  /// Scans `n` elements at `in`, whole tiles but for the dataset's last, after a normalized total
  /// `before`; prefixes go to `out` in the output type, which may be `in` where elements are as
  /// wide. Returns the place of the first prefix that
  /// the output type can't hold, if any, unless overflow wraps.
  virtual std::optional<std::uint64_t> scan(const std::byte* in, std::uint64_t n,
                                            const Accumulator& before, std::byte* out) = 0;
};

std::unique_ptr<RangeScanner> make_range_scanner(const Kernels& kernels, const ScanSpec& spec);

}  // namespace warpfold::cpu
