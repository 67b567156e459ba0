#include <memory>
#include <string>

#include "cuda/engines/engines.hpp"
#include "cuda/engines/stream_engine.hpp"
#include "cuda/histogram/device_bins.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// Counts the slabs of one batch.
class HistogramStage final : public SlabStage {
 public:
  /// `bins` are those of all batches.
  explicit HistogramStage(std::shared_ptr<const DeviceBins> bins) : bins_(std::move(bins)) {}

  void take(const SlabValues& slab, cudaStream_t stream) override {
    bins_->count(slab.elements, slab.count, slab.format, slab.selected, stream);
  }

 private:
  std::shared_ptr<const DeviceBins> bins_;
};

const SlabPurpose counting{"count", false, [](std::uint64_t) { return std::uint64_t{0}; }};

class CudaHistogramEngine final : public ResultEngineOf<HistogramCounts, HistogramStage> {
 public:
  CudaHistogramEngine(const Device& device, const StagingPlan& plan, std::uint64_t limit,
                      const std::shared_ptr<const DeviceBins>& bins)
      : ResultEngineOf(device, plan, counting, SlotMemory(plan, counting).layout(limit),
                       [&] { return std::make_unique<HistogramStage>(bins); }),
        bins_(bins) {}

  HistogramCounts finish() override {
    for (const auto& batch : finished_batches()) synchronize(batch->stream());
    return bins_->counts();
  }

 private:
  std::shared_ptr<const DeviceBins> bins_;
};

/// Returns what is left for slots.
std::uint64_t limit_beside_bins(const Device& device, const std::vector<std::uint64_t>& keys) {
  const std::uint64_t limit = device.memory_limit();
  const std::uint64_t bytes = DeviceBins::bytes(keys);
  if (keys.size() - 1 > kernels::max_bins || bytes >= limit)
    throw Error(
        "the GPU memory limit is too small for " + std::to_string(keys.size() - 1) + " bins",
        std::to_string(limit) + " bytes, and the bins take " + std::to_string(bytes),
        "Request fewer bins, raise `device_memory_bytes`, or use `backend` cpu.");
  return limit - bytes;
}

}  // namespace

std::unique_ptr<HistogramEngine> make_histogram_engine(const Device& device,
                                                       const StagingPlan& plan,
                                                       const std::vector<std::uint64_t>& bin_keys) {
  if (bin_keys.empty()) throw Error("a histogram needs edges", "its plan has none", "");
  const std::uint64_t limit = limit_beside_bins(device, bin_keys);
  const ElementType type = plan.decoding.value_type(plan.format.type);
  return std::make_unique<CudaHistogramEngine>(device, plan, limit,
                                               std::make_shared<DeviceBins>(type, bin_keys));
}

}  // namespace warpfold::cuda
