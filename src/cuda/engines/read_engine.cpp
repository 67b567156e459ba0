#include <cstdint>
#include <memory>

#include "cuda/chunks/decode_elements.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/engines/stream_engine.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/axis_layout.hpp"

namespace warpfold::cuda {
namespace {

/// Decodes the slabs of one batch to their places.
class ReadStage final : public SlabStage {
 public:
  ReadStage(const StagingPlan& plan, const ReadTarget& target)
      : decoding_(plan.decoding),
        target_{.values = target.values, .left_out = target.left_out, .indices = target.indices} {
    kernels::load_decoding(plan.format.type);
  }

  void take(const SlabValues& slab, cudaStream_t stream) override {
    if (target_.indices.count == 0) return;
    kernels::decode_elements({slab.elements, slab.count, slab.format, decoding_, slab.flat},
                             target_, stream);
  }

 private:
  Decoding decoding_;
  kernels::DecodedElements target_;
};

const SlabPurpose reading{"read", false, [](std::uint64_t) { return std::uint64_t{0}; }};

class CudaReadEngine final : public ResultEngineOf<AllRead, ReadStage> {
 public:
  CudaReadEngine(const Device& device, const StagingPlan& plan, const SlabLayout& layout,
                 const ReadTarget& target)
      : ResultEngineOf(device, without_decoding(plan), reading, layout,
                       [&] { return std::make_unique<ReadStage>(plan, target); }) {}

  AllRead finish() override {
    for (const auto& batch : finished_batches()) synchronize(batch->stream());
    return {};
  }
};

}  // namespace

std::unique_ptr<ReadEngine> make_read_engine(const Device& device, const StagingPlan& plan,
                                             const ReadTarget& target) {
  const StagingPlan stored = without_decoding(plan);
  const SlabLayout layout = SlotMemory(stored, reading).layout(device.memory_limit());
  return std::make_unique<CudaReadEngine>(device, plan, layout, target);
}

}  // namespace warpfold::cuda
