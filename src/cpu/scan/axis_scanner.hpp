#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/stream_engines.hpp"
#include "core/values/decoding.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// One thread's scan of lines, slab by slab.
class AxisScanner {
 public:
  virtual ~AxisScanner() = default;

  /// Begins `lines` lines anew.
  virtual void begin(std::uint64_t lines) = 0;

  /// Writes the prefixes of a packed slab's elements, as stored, in the output type. Returns the
  /// least place whose prefix that can't hold, if any.
  virtual std::optional<std::uint64_t> scan(const std::byte* in, const AxisSlab& shape,
                                            std::byte* out) = 0;
};

std::unique_ptr<AxisScanner> make_axis_scanner(const Kernels& kernels, const ScanSpec& spec,
                                               const Decoding& decoding);

}  // namespace warpfold::cpu
