#include "cpu/engines/backend.hpp"

#include <new>

#include "cpu/engines/engines.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cpu {
namespace {

/// Returns what make() gives. Throws Error where memory is too little.
template <class Make>
auto made(const StagingPlan& plan, const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw Error("not enough memory for the host backend's buffers",
                std::to_string(plan.slab_elements) + " elements a slab",
                "Choose a smaller `slab_bytes`.");
  }
}

class HostBackend final : public Backend {
 public:
  HostBackend(int threads, const Kernels& kernels)
      : pool_(std::make_shared<ThreadPool>(threads)), kernels_(kernels) {}

  std::string name() const override { return "cpu"; }

  std::string device() const override {
    const int threads = pool_->threads();
    return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + kernels_.name;
  }

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    return made(plan, [&] { return cpu::make_reduce_engine(kernels_, plan, needs); });
  }

  std::unique_ptr<HistogramEngine> make_histogram_engine(
      const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) override {
    return made(plan, [&] { return cpu::make_histogram_engine(kernels_, plan, bin_keys); });
  }

  std::unique_ptr<ReadEngine> make_read_engine(const StagingPlan& plan,
                                               const ReadTarget& target) override {
    return made(plan, [&] { return cpu::make_read_engine(kernels_, plan, target); });
  }

  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                            const AxisReduceSpec& spec) override {
    return made(plan, [&] { return cpu::make_axis_reduce_engine(kernels_, plan, spec); });
  }

  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                        const AxisScanSpec& spec) override {
    return made(plan, [&] { return cpu::make_axis_scan_engine(kernels_, plan, spec); });
  }

  std::unique_ptr<ScanEngine> make_scan_engine(const BlockEnginePlan& plan,
                                               const ScanSpec& spec) override {
    return made(plan.pieces, [&] { return cpu::make_scan_engine(pool_, kernels_, plan, spec); });
  }

  std::unique_ptr<CompactEngine> make_compact_engine(const BlockEnginePlan& plan,
                                                     bool indices) override {
    return made(plan.pieces,
                [&] { return cpu::make_compact_engine(pool_, kernels_, plan, indices); });
  }

 private:
  std::shared_ptr<ThreadPool> pool_;
  const Kernels& kernels_;
};

}  // namespace

std::string instruction_set() { return choose_kernels().name; }

std::unique_ptr<Backend> make_backend(int threads, const Kernels& kernels) {
  return std::make_unique<HostBackend>(threads, kernels);
}

std::unique_ptr<Backend> make_backend(int threads) {
  return make_backend(threads, choose_kernels());
}

}  // namespace warpfold::cpu
