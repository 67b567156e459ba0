#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/axis_reducer.hpp"

namespace warpfold::cpu {

/// Reduces each slab in the thread that submits it.
class HostAxisReduceEngine final : public AxisReduceEngine {
 public:
  HostAxisReduceEngine(const Kernels& kernels, const AxisReducePlan& plan);

  int lanes() const override { return static_cast<int>(lanes_.size()); }
  void begin(int lane, std::uint64_t outputs) override { at(lane).folder->begin(outputs); }
  std::span<std::byte> buffer(int lane) override { return at(lane).buffer.span(); }
  void submit(int lane, const StagedChunks& slab, const BoxIndices& rows) override;
  AxisParts finish(int lane) override { return at(lane).folder->finish(); }

  /// None: the threads that submit know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

 private:
  struct Lane {
    PageBuffer buffer;
    std::unique_ptr<AxisReducer> folder;
  };

  Lane& at(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }

  std::vector<Lane> lanes_;
};

}  // namespace warpfold::cpu
