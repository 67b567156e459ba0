#pragma once

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cpu {

/// The host backend. Its engines of streams work in the threads that bring slabs, those of blocks
/// in a pool's. Each engine's file has the function that makes it.
class HostBackend final : public Backend {
 public:
  HostBackend(int threads, const Kernels& kernels)
      : pool_(std::make_shared<ThreadPool>(threads)), kernels_(kernels) {}

  std::string name() const override { return "cpu"; }
  std::string device() const override;

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override;
  std::unique_ptr<HistogramEngine> make_histogram_engine(
      const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) override;
  std::unique_ptr<ReadEngine> make_read_engine(const StagingPlan& plan,
                                               const ReadTarget& target) override;
  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                            const AxisReduceSpec& spec) override;
  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                        const AxisScanSpec& spec) override;
  std::unique_ptr<ScanEngine> make_scan_engine(const BlockEnginePlan& plan,
                                               const ScanSpec& spec) override;
  std::unique_ptr<CompactEngine> make_compact_engine(const BlockEnginePlan& plan,
                                                     bool indices) override;

 private:
  /// Throws Error where memory is too little for an Engine.
  template <class Engine, class... Arguments>
  static std::unique_ptr<Engine> made(const StagingPlan& plan, Arguments&&... arguments) {
    try {
      return std::make_unique<Engine>(std::forward<Arguments>(arguments)...);
    } catch (const std::bad_alloc&) {
      throw Error("not enough memory for the host backend's buffers",
                  std::to_string(plan.slab_elements) + " elements a slab",
                  "Choose a smaller `slab_bytes`.");
    }
  }

  std::shared_ptr<ThreadPool> pool_;
  const Kernels& kernels_;
};

}  // namespace warpfold::cpu
