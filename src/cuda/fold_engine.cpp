#include "cuda/fold_engine.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/copy.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/download.hpp"
#include "cuda/event.hpp"
#include "cuda/fold_state.hpp"
#include "cuda/kernels/fold.hpp"
#include "cuda/pinned_buffer.hpp"
#include "cuda/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr int most_slots = 3;
constexpr std::uint64_t most_slab_elements = std::uint64_t{1} << 30;
constexpr std::uint64_t most_slab_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t least_slab_bytes = std::uint64_t{64} << 10;

/// What the device memory allows.
struct FoldLayout {
  int slots;
  std::uint64_t slab_bytes;
  int blocks;  ///< of threads, in each launch

  std::uint64_t slot_bytes() const { return slab_bytes + FoldState::bytes(blocks); }
};

FoldLayout layout_of(std::uint64_t slab_bytes, std::uint64_t limit, int resident_blocks) {
  FoldLayout layout{most_slots, slab_bytes, kernels::fold_blocks(slab_bytes, resident_blocks)};
  while (layout.slots > 1 && static_cast<unsigned>(layout.slots) * layout.slot_bytes() > limit)
    --layout.slots;
  if (layout.slot_bytes() <= limit) return layout;

  // A slab of n times 64 KiB needs at most n times what one of 64 KiB needs.
  const std::uint64_t least_bytes = std::min(slab_bytes, least_slab_bytes);
  const FoldLayout least{1, least_bytes, kernels::fold_blocks(least_bytes, resident_blocks)};
  const std::uint64_t granules = limit / least.slot_bytes();
  if (granules == 0)
    throw Error("the GPU memory allowed is too little to fold in",
                std::to_string(limit) + " bytes, and the smallest slab takes " +
                    std::to_string(least.slot_bytes()),
                "raise --device-memory to " + std::to_string(least.slot_bytes()) + " or more");
  layout.slots = 1;
  layout.slab_bytes = granules * least_bytes;
  layout.blocks = kernels::fold_blocks(layout.slab_bytes, resident_blocks);
  return layout;
}

std::uint64_t slab_bytes_of(const FoldPlan& plan) {
  const std::uint64_t element_bytes = size_of(plan.format.type);
  const std::uint64_t elements =
      std::clamp<std::uint64_t>(plan.slab_elements, 1, most_slab_elements);
  return std::min(elements * element_bytes, most_slab_bytes);
}

/// A slab's way from page-locked memory through the GPU. Slots share nothing.
class FoldSlot {
 public:
  explicit FoldSlot(const FoldLayout& layout)
      : staged_(layout.slab_bytes), slab_(layout.slab_bytes), state_(layout.blocks) {}

  std::span<std::byte> staged() const { return staged_.span(); }

  void submit(const FoldPlan& plan, std::uint64_t first_index, std::uint64_t elements) {
    const std::uint64_t bytes = elements * size_of(plan.format.type);
    copy_to_device(slab_.data(), staged_.data(), bytes, stream_.get());
    staged_taken_.record(stream_.get());
    kernels::fold({.elements = slab_.data(),
                   .count = elements,
                   .format = plan.format,
                   .needs = plan.needs,
                   .first_index = first_index,
                   .totals = state_.totals(),
                   .block_extrema = state_.block_extrema(),
                   .blocks = kernels::fold_blocks(bytes, state_.blocks())},
                  stream_.get());
  }

  void wait() const { staged_taken_.wait(); }

  /// What the slot has folded so far, once it is done.
  Accumulator total() const {
    return downloaded_value<kernels::FoldTotals>(state_.totals(), stream_.get()).total;
  }

 private:
  PinnedBuffer staged_;
  DeviceBuffer slab_;
  FoldState state_;
  Event staged_taken_;
  Stream stream_;
};

class CudaFoldEngine final : public FoldEngine {
 public:
  CudaFoldEngine(const Device& device, const FoldPlan& plan) : device_(device), plan_(plan) {
    const int resident =
        kernels::resident_fold_blocks(plan.format.type, plan.needs) * multiprocessors();
    const FoldLayout layout = layout_of(slab_bytes_of(plan), device.memory_limit(), resident);
    slab_elements_ = layout.slab_bytes / size_of(plan.format.type);
    for (int slot = 0; slot < layout.slots; ++slot)
      slots_.push_back(std::make_unique<FoldSlot>(layout));
  }

  int slots() const override { return static_cast<int>(slots_.size()); }

  std::span<std::byte> buffer(int slot) override { return at(slot).staged(); }

  void submit(int slot, std::uint64_t first_index, std::uint64_t elements) override {
    if (elements == 0) return;
    if (elements > slab_elements_)
      throw Error("a slab of " + std::to_string(elements) + " elements is too large",
                  "the slot holds " + std::to_string(slab_elements_), "");
    device_.activate();
    at(slot).submit(plan_, first_index, elements);
  }

  void wait(int slot) override {
    device_.activate();
    at(slot).wait();
  }

  Accumulator finish() override {
    device_.activate();
    Accumulator total = Accumulator::empty();
    for (const auto& slot : slots_) total.merge(needed_parts(slot->total(), plan_.needs));
    total.normalize();
    return total;
  }

 private:
  FoldSlot& at(int slot) { return *slots_.at(static_cast<std::size_t>(slot)); }

  Device device_;
  FoldPlan plan_;
  std::uint64_t slab_elements_ = 0;
  std::vector<std::unique_ptr<FoldSlot>> slots_;
};

}  // namespace

std::unique_ptr<FoldEngine> make_fold_engine(const Device& device, const FoldPlan& plan) {
  return std::make_unique<CudaFoldEngine>(device, plan);
}

}  // namespace warpfold::cuda
