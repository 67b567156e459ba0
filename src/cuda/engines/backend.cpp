#include "cuda/engines/backend.hpp"

#include "cuda/engines/engines.hpp"
#include "cuda/reduce/reduce.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "cuda/staging/device_mask.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const DeviceOptions& options)
      : device_(options.device, options.memory_bytes, options.sharing_processes) {
    device_.activate();
    description_ = properties_of(options.device).name;
    kernels::resident_reduce_blocks(ElementType::f64);  // throws where no device code fits the GPU
  }

  std::string name() const override { return "cuda"; }
  std::string device() const override { return description_; }

  std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                   ReduceNeeds needs) override {
    return cuda::make_reduce_engine(device_, prepared(plan), needs);
  }

  std::unique_ptr<HistogramEngine> make_histogram_engine(
      const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) override {
    return cuda::make_histogram_engine(device_, prepared(plan), bin_keys);
  }

  std::unique_ptr<ReadEngine> make_read_engine(const StagingPlan& plan,
                                               const ReadTarget& target) override {
    return cuda::make_read_engine(device_, prepared(plan), target);
  }

  std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                            const AxisReduceSpec& spec) override {
    return cuda::make_axis_reduce_engine(device_, prepared(plan), spec);
  }

  std::unique_ptr<LabelEngine> make_label_engine(const StagingPlan& plan, ReduceNeeds needs,
                                                 std::uint64_t labels) override {
    return cuda::make_label_engine(device_, prepared(plan), needs, labels);
  }

  std::unique_ptr<QuantileEngine> make_quantile_engine(const StagingPlan& plan,
                                                       const QuantileEngineSpec& spec) override {
    return cuda::make_quantile_engine(device_, prepared(plan), spec);
  }

  std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                        const AxisScanSpec& spec) override {
    return cuda::make_axis_scan_engine(device_, prepared(plan), spec);
  }

  std::unique_ptr<ScanEngine> make_scan_engine(const BlockEnginePlan& plan,
                                               const ScanSpec& spec) override {
    return cuda::make_scan_engine(device_, prepared(plan), spec);
  }

  std::unique_ptr<CompactEngine> make_compact_engine(const BlockEnginePlan& plan,
                                                     bool indices) override {
    return cuda::make_compact_engine(device_, prepared(plan), indices);
  }

 private:
  /// Activate the device; return a plan with its mask in device memory. Engines with an earlier one
  /// are gone by then.
  StagingPlan prepared(StagingPlan plan) {
    device_.activate();
    plan.decoding = mask_.put_on_device(plan.decoding);
    return plan;
  }
  BlockEnginePlan prepared(BlockEnginePlan plan) {
    plan.pieces = prepared(plan.pieces);
    return plan;
  }

  Device device_;
  std::string description_;
  DeviceMask mask_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const DeviceOptions& options) {
  const int count = device_count();
  if (count == 0)
    throw Error("the cuda backend is not available", unavailable_reason(), "Use `backend` cpu.");
  if (options.device < 0 || options.device >= count)
    throw Error("there is no GPU number " + std::to_string(options.device),
                std::to_string(count) + " visible, numbered from 0", "Check CUDA_VISIBLE_DEVICES.");
  return std::make_unique<CudaBackend>(options);
}

}  // namespace warpfold::cuda
