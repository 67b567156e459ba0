#include <memory>
#include <string>

#include "cuda/engines/engines.hpp"
#include "cuda/engines/stream_engine.hpp"
#include "cuda/histogram/histogram.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// The bins and their counters in device memory: of all slots.
class DeviceBins {
 public:
  DeviceBins(ElementType type, const std::vector<std::uint64_t>& keys) : memory_(bytes(keys)) {
    const kernels::BinIndex index = kernels::bin_index(type, keys);
    Scratch memory(memory_.data());
    const Parts parts = cut(memory, keys.size());
    const Stream stream;
    copy_to_device(parts.keys, keys.data(), keys.size() * sizeof(std::uint64_t), stream.get());
    copy_to_device(parts.first_bins, index.first_bins.data(),
                   index.first_bins.size() * sizeof(std::uint32_t), stream.get());
    bins_ = {.table = {parts.keys, index.cells, parts.first_bins},
             .count = keys.size() - 1,
             .first_key = keys.front(),
             .end_key = keys.back(),
             .counters = parts.counters};
    fill_bytes(parts.counters, 0, counters() * sizeof(*parts.counters), stream.get());
    stream.synchronize();
  }

  static std::uint64_t bytes(const std::vector<std::uint64_t>& keys) {
    Scratch memory;
    cut(memory, keys.size());
    return memory.bytes();
  }

  void count(const SlabValues& slab, cudaStream_t stream) const {
    kernels::histogram({slab.elements, slab.count, slab.format, slab.selected, bins_}, stream);
  }

  /// Once all streams that count are done.
  HistogramCounts counts() const {
    const Stream stream;
    HistogramCounts result;
    result.bins = downloaded_array<std::uint64_t>(bins_.counters, counters(), stream.get());
    const std::uint64_t* outside = result.bins.data() + bins_.count;
    const auto counter = [outside](kernels::OutsideBins where) {
      return outside[static_cast<unsigned>(where)];
    };
    result.below = counter(kernels::OutsideBins::below);
    result.above = counter(kernels::OutsideBins::above);
    result.nan = counter(kernels::OutsideBins::nan);
    result.bins.resize(bins_.count);
    return result;
  }

 private:
  struct Parts {
    std::uint64_t* keys;
    std::uint32_t* first_bins;
    unsigned long long* counters;
  };

  static Parts cut(Scratch& memory, std::uint64_t edges) {
    return {memory.take<std::uint64_t>(edges), memory.take<std::uint32_t>(edges),
            memory.take<unsigned long long>(edges - 1 + kernels::outside_counters)};
  }

  std::uint64_t counters() const { return bins_.count + kernels::outside_counters; }

  DeviceBuffer memory_;
  kernels::HistogramBins bins_{};
};

/// Counts the slabs of one batch.
class HistogramStage final : public SlabStage {
 public:
  explicit HistogramStage(std::shared_ptr<const DeviceBins> bins) : bins_(std::move(bins)) {}

  void take(const SlabValues& slab, cudaStream_t stream) override { bins_->count(slab, stream); }

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
        "the GPU memory allowed is too little for " + std::to_string(keys.size() - 1) + " bins",
        std::to_string(limit) + " bytes, and the bins take " + std::to_string(bytes),
        "Ask for fewer bins, raise `device_memory_bytes`, or use `backend` cpu.");
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
