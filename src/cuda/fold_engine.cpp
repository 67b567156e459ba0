#include "cuda/fold_engine.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/chunk_loader.hpp"
#include "cuda/copy.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/download.hpp"
#include "cuda/fold_state.hpp"
#include "cuda/kernels/fold.hpp"
#include "cuda/span_timer.hpp"
#include "cuda/staging_buffer.hpp"
#include "cuda/stream.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t most_slab_elements = std::uint64_t{1} << 30;
constexpr std::uint64_t most_slab_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t least_slab_bytes = std::uint64_t{64} << 10;

/// A slot's memory.
struct SlotLayout {
  std::uint64_t slab_bytes;
  std::uint64_t staging_bytes;
  bool chunked;
  int blocks;  ///< of threads, in each launch

  std::uint64_t device_bytes() const {
    return slab_bytes + (chunked ? ChunkLoader::buffer_bytes(staging_bytes) : 0) +
           FoldState::bytes(blocks);
  }
};

std::uint64_t slab_bytes_of(const FoldPlan& plan) {
  const std::uint64_t element_bytes = size_of(plan.format.type);
  const std::uint64_t elements =
      std::clamp<std::uint64_t>(plan.slab_elements, 1, most_slab_elements);
  return std::min(elements * element_bytes, most_slab_bytes);
}

/// For slabs of at most `slab_bytes`, the plan's or less.
SlotLayout slot_for(const FoldPlan& plan, std::uint64_t slab_bytes, int resident_blocks) {
  const std::uint64_t planned = slab_bytes_of(plan);
  const std::uint64_t staging = std::max(plan.staging_bytes, planned);
  const double share = static_cast<double>(slab_bytes) / static_cast<double>(planned);
  const auto less = static_cast<std::uint64_t>(static_cast<double>(staging) * share);
  return {slab_bytes, slab_bytes == planned ? staging : std::max(less, slab_bytes), plan.chunked,
          kernels::fold_blocks(slab_bytes, resident_blocks)};
}

struct FoldLayout {
  int slots;
  SlotLayout slot;
};

/// What the device memory allows.
FoldLayout layout_of(const FoldPlan& plan, std::uint64_t limit, int resident_blocks) {
  const std::uint64_t slab_bytes = slab_bytes_of(plan);
  const SlotLayout planned = slot_for(plan, slab_bytes, resident_blocks);
  const std::uint64_t slots = limit / planned.device_bytes();
  if (slots > 0)
    return {static_cast<int>(
                std::min<std::uint64_t>(slots, static_cast<unsigned>(std::max(plan.slots, 1)))),
            planned};

  // A slab of n times 64 KiB needs at most n times what one of 64 KiB needs.
  const std::uint64_t least_bytes = std::min(slab_bytes, least_slab_bytes);
  const std::uint64_t least = slot_for(plan, least_bytes, resident_blocks).device_bytes();
  const std::uint64_t granules = limit / least;
  if (granules == 0)
    throw Error(
        "the GPU memory allowed is too little to fold in",
        std::to_string(limit) + " bytes, and the smallest slab takes " + std::to_string(least),
        "raise --device-memory to " + std::to_string(least) + " or more");
  return {1, slot_for(plan, granules * least_bytes, resident_blocks)};
}

/// A slab's way from page-locked memory through the GPU. Slots share nothing.
class FoldSlot {
 public:
  FoldSlot(const FoldPlan& plan, const SlotLayout& layout, const TimedEvent& epoch)
      : format_(plan.format),
        needs_(plan.needs),
        staging_(
            layout.chunked ? ChunkLoader::buffer_bytes(layout.staging_bytes) : layout.staging_bytes,
            epoch),
        slab_(layout.slab_bytes),
        state_(layout.blocks),
        folds_(epoch) {
    if (layout.chunked) loader_.emplace(layout.staging_bytes);
  }

  StagingBuffer& staging() { return staging_; }
  SpanTimer& folds() { return folds_; }

  void submit(std::uint64_t skipped_bytes, std::uint64_t first_index, std::uint64_t elements) {
    const std::uint64_t bytes = elements * size_of(format_.type);
    staging_.begin_copy(stream_.get());
    copy_to_device(slab_.data(), staging_.memory().subspan(skipped_bytes, bytes).data(), bytes,
                   stream_.get());
    staging_.end_copy(stream_.get(), bytes);
    folds_.begin(stream_.get());
    fold(elements, first_index, nullptr);
  }

  void submit(const StagedChunks& slab, const BoxIndices& indices) {
    const std::size_t element_bytes = size_of(format_.type);
    loader_->copy(staging_, slab, indices, element_bytes, stream_.get());
    folds_.begin(stream_.get());
    loader_->assemble(slab, element_bytes, slab_.data(), stream_.get());
    fold(slab.target.elements, 0, loader_->indices());
  }

  /// What the slot has folded so far, once it is done.
  Accumulator total() const {
    return downloaded_value<kernels::FoldTotals>(state_.totals(), stream_.get()).total;
  }

 private:
  void fold(std::uint64_t elements, std::uint64_t first_index, const BoxIndices* indices) {
    const std::uint64_t bytes = elements * size_of(format_.type);
    kernels::fold({.elements = slab_.data(),
                   .count = elements,
                   .format = format_,
                   .needs = needs_,
                   .first_index = first_index,
                   .totals = state_.totals(),
                   .block_extrema = state_.block_extrema(),
                   .blocks = kernels::fold_blocks(bytes, state_.blocks()),
                   .indices = indices},
                  stream_.get());
    folds_.end(stream_.get(), bytes);
  }

  ElementFormat format_;
  FoldNeeds needs_;
  StagingBuffer staging_;
  DeviceBuffer slab_;
  std::optional<ChunkLoader> loader_;  ///< of a chunked plan
  FoldState state_;
  SpanTimer folds_;
  Stream stream_;
};

class CudaFoldEngine final : public FoldEngine {
 public:
  CudaFoldEngine(const Device& device, const FoldPlan& plan) : device_(device), plan_(plan) {
    const int resident =
        kernels::resident_fold_blocks(plan.format.type, plan.needs) * multiprocessors();
    const FoldLayout layout = layout_of(plan, device.memory_limit(), resident);
    slab_elements_ = layout.slot.slab_bytes / size_of(plan.format.type);
    staging_bytes_ = layout.slot.staging_bytes;
    start_timing(epoch_);
    for (int slot = 0; slot < layout.slots; ++slot)
      slots_.push_back(std::make_unique<FoldSlot>(plan, layout.slot, epoch_));
  }

  int slots() const override { return static_cast<int>(slots_.size()); }
  std::uint64_t slab_elements() const override { return slab_elements_; }

  std::span<std::byte> buffer(int slot) override {
    device_.activate();
    return at(slot).staging().memory().first(staging_bytes_);
  }

  void submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
              std::uint64_t elements) override {
    if (elements == 0) return;
    check_fits(elements, skipped_bytes + elements * size_of(plan_.format.type));
    device_.activate();
    at(slot).submit(skipped_bytes, first_index, elements);
  }

  void submit(int slot, const StagedChunks& slab, const BoxIndices& indices) override {
    if (slab.target.elements == 0) return;
    check_fits(slab.target.elements, 0);
    device_.activate();
    at(slot).submit(slab, indices);
  }

  void wait(int slot) override {
    device_.activate();
    at(slot).staging().wait();
  }

  Accumulator finish() override {
    device_.activate();
    Accumulator total = Accumulator::empty();
    for (const auto& slot : slots_) total.merge(needed_parts(slot->total(), plan_.needs));
    total.normalize();
    return total;
  }

  std::vector<EngineTiming> timings() const override {
    device_.activate();
    std::vector<SpanTimer*> copies;
    std::vector<SpanTimer*> folds;
    for (const auto& slot : slots_) {
      copies.push_back(&slot->staging().copies());
      folds.push_back(&slot->folds());
    }
    return {timing_of("copy to GPU", copies), timing_of("fold", folds)};
  }

 private:
  FoldSlot& at(int slot) { return *slots_.at(static_cast<std::size_t>(slot)); }

  void check_fits(std::uint64_t elements, std::uint64_t bytes) const {
    if (elements <= slab_elements_ && bytes <= staging_bytes_) return;
    throw Error("a slab of " + std::to_string(elements) + " elements is too large",
                "the slot holds " + std::to_string(slab_elements_) + " in " +
                    std::to_string(staging_bytes_) + " bytes",
                "");
  }

  Device device_;
  FoldPlan plan_;
  std::uint64_t slab_elements_ = 0;
  std::uint64_t staging_bytes_ = 0;
  TimedEvent epoch_;
  std::vector<std::unique_ptr<FoldSlot>> slots_;
};

}  // namespace

std::unique_ptr<FoldEngine> make_fold_engine(const Device& device, const FoldPlan& plan) {
  return std::make_unique<CudaFoldEngine>(device, plan);
}

}  // namespace warpfold::cuda
