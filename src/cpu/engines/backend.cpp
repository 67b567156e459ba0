#include "cpu/engines/backend.hpp"

#include <new>

#include "cpu/engines/axis_reduce_engine.hpp"
#include "cpu/engines/axis_scan_engine.hpp"
#include "cpu/engines/compact_engine.hpp"
#include "cpu/engines/histogram_engine.hpp"
#include "cpu/engines/host_backend.hpp"
#include "cpu/engines/reduce_engine.hpp"
#include "cpu/engines/scan_engine.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cpu {
namespace {

class HostBackend final : public Backend {
 public:
  HostBackend(int threads, const Kernels& kernels)
      : pool_(std::make_shared<ThreadPool>(threads)), kernels_(kernels) {}

  std::string name() const override { return "cpu"; }

  std::string device() const override {
    const int threads = pool_->threads();
    return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + kernels_.name;
  }

  std::unique_ptr<ReduceEngine> make_reduce_engine(const ReducePlan& plan) override {
    return made<HostReduceEngine>(plan, kernels_, plan);
  }

  std::unique_ptr<ScanEngine> make_scan_engine(const ScanPlan& plan) override {
    return made<HostScanEngine>(plan, pool_, kernels_, plan);
  }

  std::unique_ptr<HistogramEngine> make_histogram_engine(const HistogramPlan& plan) override {
    return made<HostHistogramEngine>(plan.slabs, kernels_, plan);
  }

  std::unique_ptr<CompactEngine> make_compact_engine(const CompactPlan& plan) override {
    return made<HostCompactEngine>(plan, pool_, kernels_, plan);
  }

  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const AxisReducePlan& plan) override {
    return made<HostAxisReduceEngine>(plan, kernels_, plan);
  }

  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const AxisScanPlan& plan) override {
    return made<HostAxisScanEngine>(plan, kernels_, plan);
  }

 private:
  template <class Engine, class Plan, class... Arguments>
  static std::unique_ptr<Engine> made(const Plan& plan, const Arguments&... arguments) {
    try {
      return std::make_unique<Engine>(arguments...);
    } catch (const std::bad_alloc&) {
      throw Error("not enough memory for the host backend's buffers",
                  std::to_string(plan.slab_elements) + " elements a slab",
                  "Choose a smaller `slab_bytes`.");
    }
  }

  std::shared_ptr<ThreadPool> pool_;
  const Kernels& kernels_;
};

}  // namespace

std::string instruction_set() { return available_kernels().front()->name; }

std::unique_ptr<Backend> make_backend(int threads, const Kernels& kernels) {
  return std::make_unique<HostBackend>(threads, kernels);
}

std::unique_ptr<Backend> make_backend(int threads) {
  return make_backend(threads, *available_kernels().front());
}

}  // namespace warpfold::cpu
