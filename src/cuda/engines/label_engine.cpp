#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/values/byte_order.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/labels/label_reduction.hpp"
#include "cuda/labels/number_sets.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/axis_layout.hpp"
#include "cuda/staging/slab_batches.hpp"
#include "cuda/staging/slab_flow.hpp"
#include "cuda/staging/wide_elements.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// A table of totals has room for so many labels, if a quarter of the memory is enough. Cores
/// reduce slabs that have others.
constexpr std::uint64_t most_labels = std::uint64_t{1} << 22;
constexpr std::uint64_t least_labels = 1024;

/// Number sets of a thread, at most, where slabs wait for decompression.
constexpr int wanted_turns = 64;

/// Number sets of a turn: one is filled while another is in use.
constexpr std::uint64_t sets_of_turn = 2;

WideningPlan label_widening(const StagingPlan& plan) {
  return {.format = plan.format,
          .decoding = plan.decoding,
          .slab_elements = plan.slab_elements,
          .marks_counting = true};
}

/// Returns whether the kernels take elements as they are stored.
bool taken_as_stored(const StagingPlan& plan) {
  return plan.format.type == ElementType::f32 && plan.format.order == native_byte_order &&
         plan.decoding.trivial();
}

std::uint64_t set_bytes(const StagingPlan& plan) {
  return plan.slab_elements * sizeof(std::uint32_t);
}

AxisMemory memory_for(const StagingPlan& plan) {
  return {
      .verb = "reduce by labels",
      .turn_bytes = sets_of_turn * set_bytes(plan),
      .batch_bytes = taken_as_stored(plan) ? 0 : WideElements::device_bytes(label_widening(plan))};
}

/// Returns for how many of `labels` labels a quarter of the memory has room.
std::uint64_t capacity_for(const StagingPlan& plan, const ReduceNeeds& needs, std::uint64_t labels,
                           std::uint64_t limit) {
  const ElementType values = plan.decoding.value_type(plan.format.type);
  constexpr std::uint64_t copies = LabelReduction::copies_of_few;
  std::uint64_t capacity =
      std::bit_ceil(std::clamp(labels, least_labels, most_labels / copies)) * copies;
  while (capacity >= least_labels &&
         LabelReduction::device_bytes(values, needs, capacity) > limit / 4)
    capacity /= 2;
  return capacity;
}

/// The totals of all threads' slabs, which take turns.
class SharedReduction {
 public:
  SharedReduction(ElementType values, const ReduceNeeds& needs, std::uint64_t capacity)
      : reduction_(values, needs, capacity) {}

  std::uint64_t capacity() const { return reduction_.capacity(); }

  /// Starts reducing a slab; records when it is done.
  void take(const kernels::LabelSlab& slab, Event& done, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    last_.delay(stream);
    reduction_.take(slab, stream);
    last_.record(stream);
    done.record(stream);
    labels_ = std::max(labels_, slab.labels);
  }

  AxisParts finish() {
    const std::lock_guard lock(mutex_);
    const Stream stream;
    last_.delay(stream.get());
    return reduction_.finish(std::exchange(labels_, 0), stream.get());
  }

 private:
  std::mutex mutex_;
  LabelReduction reduction_;
  std::uint64_t labels_ = 0;
  Event last_;
};

/// One thread's numbers on their way to the GPU.
class ThreadNumbers {
 public:
  /// Returns memory for numbers.
  std::span<std::uint32_t> fill(std::uint64_t places) {
    uploaded_.wait();
    if (memory_.size() < places * sizeof(std::uint32_t))
      memory_ = PinnedBuffer(places * sizeof(std::uint32_t));
    places_ = places;
    return {reinterpret_cast<std::uint32_t*>(memory_.data()), places};
  }

  /// Copies them to a set, once slabs that it was for have been reduced.
  void upload(NumberSet& set, std::uint64_t labels) {
    set.places = places_;
    set.labels = labels;
    set.used.delay(stream_.get());
    copy_to_device(set.memory.data(), memory_.data(), places_ * sizeof(std::uint32_t),
                   stream_.get());
    set.uploaded.record(stream_.get());
    uploaded_.record(stream_.get());
  }

  std::optional<int> set;  ///< that slabs from now on have

 private:
  PinnedBuffer memory_;
  std::uint64_t places_ = 0;
  Event uploaded_;
  Stream stream_;
};

/// State shared by threads and batches.
struct LabelState {
  LabelState(const StagingPlan& plan, const ReduceNeeds& needs, std::uint64_t capacity,
             const AxisLayout& layout)
      : reduction(plan.decoding.value_type(plan.format.type), needs, capacity),
        sets(static_cast<std::size_t>(layout.slabs.slots) *
                 static_cast<std::size_t>(layout.under_way) * sets_of_turn,
             set_bytes(plan)),
        decompresses(layout.slabs.decompresses) {
    for (int thread = 0; thread < layout.slabs.slots; ++thread)
      threads.push_back(std::make_unique<ThreadNumbers>());
  }

  ThreadNumbers& at(int thread) { return *threads.at(static_cast<std::size_t>(thread)); }

  SharedReduction reduction;
  NumberSets sets;
  bool decompresses;
  std::vector<std::unique_ptr<ThreadNumbers>> threads;
};

/// Reduces the slabs of one batch: those of a thread, which goes on with its numbers afterwards; or
/// those of several, whose slots are sets of numbers.
class LabelStage final : public SlabStage {
 public:
  LabelStage(const StagingPlan& plan, LabelState& state) : state_(state) {
    if (!taken_as_stored(plan)) wide_.emplace(label_widening(plan));
    load_kernels();
  }

  void take(const SlabValues& slab, cudaStream_t stream) override {
    if (slab.count == 0) return;
    const int set = state_.decompresses ? slab.slot : state_.at(slab.slot).set.value();
    NumberSet& numbers = state_.sets[set];
    numbers.uploaded.delay(stream);
    const std::byte* elements = slab.elements;
    if (wide_) elements = wide_->widen(elements, slab.count, slab.flat, stream);
    state_.reduction.take({.elements = elements,
                           .type = type(),
                           .counting = wide_ ? wide_->counting() : nullptr,
                           .numbers = reinterpret_cast<const std::uint32_t*>(numbers.memory.data()),
                           .places = numbers.places,
                           .begin = 0,
                           .end = slab.count,
                           .labels = numbers.labels,
                           .indices = slab.flat},
                          numbers.used, stream);
    if (state_.decompresses) state_.sets.remove_user(set);
  }

 private:
  ElementType type() const { return wide_ ? wide_->type() : ElementType::f32; }

  /// Kernels that are loaded later would wait for what others decompress.
  void load_kernels() const {
    if (wide_) wide_->load_kernel();
    kernels::load_label_sums(type());
    kernels::load_label_extrema(type());
    kernels::load_label_folds();
  }

  LabelState& state_;
  std::optional<WideElements> wide_;
};

class CudaLabelEngine final : public LabelEngine {
 public:
  CudaLabelEngine(const Device& device, const StagingPlan& plan, const ReduceNeeds& needs,
                  std::uint64_t capacity, const AxisLayout& layout, const AxisMemory& memory)
      : device_(device),
        time_origin_(make_time_origin()),
        state_(plan, needs, capacity, layout),
        flow_(device, without_decoding(plan), purpose_of(memory), layout.slabs, 2, stage::reduce,
              {}, time_origin_, [&] { return std::make_unique<LabelStage>(plan, state_); }) {}

  int threads() const override { return flow_.threads(); }
  std::uint64_t slab_elements() const override { return flow_.layout().slot.elements; }
  bool decompresses() const override { return flow_.layout().decompresses; }
  std::uint64_t capacity() const override { return state_.reduction.capacity(); }

  bool is_ready() override { return flow_.batches().is_ready(); }
  void proceed() override { flow_.batches().proceed(); }
  void flush() override { flow_.batches().flush(); }

  std::span<std::uint32_t> numbers(int thread, std::uint64_t places) override {
    device_.activate();
    if (places == 0 || places > slab_elements())
      throw Error("a slab can't have numbers of " + std::to_string(places) + " places",
                  "it has up to " + std::to_string(slab_elements()), "");
    return state_.at(thread).fill(places);
  }

  void label(int thread, std::uint64_t labels) override {
    device_.activate();
    if (labels > capacity())
      throw Error("there is no room for " + std::to_string(labels) + " labels",
                  "the table has room for " + std::to_string(capacity()), "");
    ThreadNumbers& own = state_.at(thread);
    if (own.set) state_.sets.remove_user(*own.set);
    own.set = free_set();
    own.upload(state_.sets[*own.set], labels);
  }

  Ticket take(int thread) override {
    const std::optional<int> set = state_.at(thread).set;
    if (!set) throw Error("a slab has no labels", "its thread has given none", "");
    Ticket ticket = flow_.take(thread);
    ticket.slot = decompresses() ? *set : thread;
    return ticket;
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    if (slab.target.elements == 0) return;
    if (decompresses()) state_.sets.add_user(ticket.slot);
    flow_.submit(ticket, slab);
  }

  AxisParts finish() override {
    flow_.batches().finish();
    return state_.reduction.finish();
  }

  std::vector<StageTiming> timings() const override { return flow_.timings(); }

 private:
  /// Returns a set that no slab has any more; completes others' batches where there is none.
  int free_set() {
    for (;;) {
      if (const std::optional<int> set = state_.sets.take()) return *set;
      flow_.batches().finish_until([this] { return state_.sets.any_free(); });
    }
  }

  Device device_;
  TimedEvent time_origin_;
  LabelState state_;
  SlabFlow flow_;
};

}  // namespace

std::unique_ptr<LabelEngine> make_label_engine(const Device& device, const StagingPlan& wanted,
                                               const ReduceNeeds& needs, std::uint64_t labels) {
  StagingPlan plan = wanted;
  plan.slots_per_thread = 1;
  const std::uint64_t limit = device.memory_limit();
  const std::uint64_t capacity = capacity_for(plan, needs, labels, limit);
  if (capacity < least_labels || needs.weighted) return nullptr;
  const std::uint64_t table =
      LabelReduction::device_bytes(plan.decoding.value_type(plan.format.type), needs, capacity);
  const AxisMemory memory = memory_for(plan);
  if (limit < table + least_bytes(plan, memory)) return nullptr;
  const AxisLayout layout = layout_of(plan, memory, wanted_turns, limit - table);
  return std::make_unique<CudaLabelEngine>(device, plan, needs, capacity, layout, memory);
}

}  // namespace warpfold::cuda
