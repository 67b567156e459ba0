#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/scan/axis_scanner.hpp"

namespace warpfold::cpu {

/// Scans each slab in the thread that brings it.
class HostAxisScanEngine final : public AxisScanEngine {
 public:
  HostAxisScanEngine(const Kernels& kernels, const AxisScanPlan& plan);

  int lanes() const override { return static_cast<int>(lanes_.size()); }
  void begin(int lane, std::uint64_t lines) override { at(lane).scanner->begin(lines); }
  std::span<std::byte> buffer(int lane) override { return at(lane).buffer.span(); }
  std::span<const std::byte> scan(int lane, const StagedChunks& slab,
                                  const AxisSlab& shape) override;
  std::optional<std::uint64_t> overflow(int lane) const override {
    return lanes_[static_cast<std::size_t>(lane)].unfit;
  }

  /// None: the threads that call know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

 private:
  struct Lane {
    PageBuffer buffer;
    PageBuffer in;
    PageBuffer out;
    std::unique_ptr<AxisScanner> scanner;
    std::optional<std::uint64_t> unfit;
  };

  Lane& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }

  const Kernels& kernels_;
  bool wraps_;
  std::size_t input_bytes_;
  std::size_t output_bytes_;
  std::vector<Lane> lanes_;
};

}  // namespace warpfold::cpu
