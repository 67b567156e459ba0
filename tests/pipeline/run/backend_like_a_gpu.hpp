#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/engines/backend.hpp"

namespace warpfold::pipeline {

/// The host's backend, of which tests replace an engine by one that does what only a GPU's do.
class BackendLikeAGpu : public Backend {
 public:
  std::string name() const override { return host_->name(); }
  std::string device() const override { return host_->device(); }

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    return host_->make_reduce_engine(plan, needs);
  }

  std::unique_ptr<HistogramEngine> make_histogram_engine(
      const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) override {
    return host_->make_histogram_engine(plan, bin_keys);
  }

  std::unique_ptr<ReadEngine> make_read_engine(const StagingPlan& plan,
                                               const ReadTarget& target) override {
    return host_->make_read_engine(plan, target);
  }

  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                            const AxisReduceSpec& spec) override {
    return host_->make_axis_reduce_engine(plan, spec);
  }

  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                        const AxisScanSpec& spec) override {
    return host_->make_axis_scan_engine(plan, spec);
  }

  std::unique_ptr<ScanEngine> make_scan_engine(const BlockEnginePlan& plan,
                                               const ScanSpec& spec) override {
    return host_->make_scan_engine(plan, spec);
  }

  std::unique_ptr<CompactEngine> make_compact_engine(const BlockEnginePlan& plan,
                                                     bool indices) override {
    return host_->make_compact_engine(plan, indices);
  }

 protected:
  std::unique_ptr<Backend> host_ = cpu::make_backend(1);
};

}  // namespace warpfold::pipeline
