#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/stream_engines.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::cpu {

/// Lines of a slab that are scanned together: of these outer and inner indices.
struct LinePart {
  ElementRange outer;
  ElementRange inner;

  std::uint64_t lines() const { return outer.count * inner.count; }
};

/// The scan of a part's lines, slab by slab.
class AxisScanner {
 public:
  virtual ~AxisScanner() = default;

  /// Starts `lines` new lines.
  virtual void begin(std::uint64_t lines) = 0;

  /// Writes the prefixes of the part's elements in the output type, each at its place in the slab,
  /// given a slab of values. Returns the least place whose prefix that can't hold, if any.
  virtual std::optional<std::uint64_t> scan(const std::byte* in, const AxisSlab& slab,
                                            const LinePart& part, std::byte* out) = 0;
};

/// Makes one of a scan whose input is values, of which all count.
std::unique_ptr<AxisScanner> make_axis_scanner(const Kernels& kernels, const ScanSpec& spec);

}  // namespace warpfold::cpu
