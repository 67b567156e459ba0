#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cuda/axis/axis_reduce.hpp"
#include "cuda/axis/varying_words.hpp"
#include "cuda/engines/engines.hpp"
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

/// A thread's share of a slab that makes up for loading and storing what its column has reduced.
constexpr std::uint64_t elements_of_thread = 8;

std::uint64_t columns_worth(std::uint64_t slab_elements) {
  return std::min(slab_elements / elements_of_thread, kernels::max_axis_threads);
}

/// A reduction's arrays in device memory.
struct ReduceArrays {
  kernels::AxisColumns columns;
  AxisSpill* spills;
  kernels::AxisReduceStatus* status;
  std::uint32_t* varying;  ///< as SharedWords has it
};

/// Arrays of AxisParts.
constexpr std::size_t part_arrays = 7;

/// Words that all outputs have in common, for each of the arrays of their results: those of the
/// first element whose bits in `varying` are not set.
struct SharedWords {
  static constexpr std::size_t max_words = std::max(sizeof(AxisCounts), sizeof(Expansion)) / 8;
  std::uint32_t varying[part_arrays];
  std::uint64_t first[part_arrays][max_words];
};

ReduceArrays take_arrays(Scratch& scratch, const StagingPlan& plan, const AxisReduceSpec& spec) {
  const ReduceNeeds& needs = spec.needs;
  const std::uint64_t columns = std::max(spec.outputs, columns_worth(plan.slab_elements));
  const auto take = [&]<class Part>(Part*, bool needed) {
    return needed ? scratch.take<Part>(columns) : nullptr;
  };
  const kernels::AxisColumns none{};
  return {
      .columns = {.counts = take(none.counts, true),
                  .elements = take(none.elements, true),
                  .sum = take(none.sum, needs.sum),
                  .absolute = take(none.absolute, needs.absolute),
                  .squares = take(none.squares, needs.squares),
                  .minimum = take(none.minimum, needs.extrema),
                  .maximum = take(none.maximum, needs.extrema),
                  .first_nan = take(none.first_nan, true),
                  .places = take(none.places, true)},
      .spills = scratch.take<AxisSpill>(kernels::axis_spill_capacity(needs, spec.factors.any())),
      .status = scratch.take<kernels::AxisReduceStatus>(1),
      .varying = scratch.take<std::uint32_t>(part_arrays)};
}

std::uint64_t bytes_of_arrays(const StagingPlan& plan, const AxisReduceSpec& spec) {
  Scratch counter;
  take_arrays(counter, plan, spec);
  return counter.bytes();
}

WideningPlan widening(const StagingPlan& plan) {
  return {.format = plan.format,
          .decoding = plan.decoding,
          .slab_elements = plan.slab_elements,
          .marks_counting = true};
}

AxisMemory memory_for(const StagingPlan& plan, const AxisReduceSpec& spec) {
  return {.verb = "reduce along axes",
          .turn_bytes = bytes_of_arrays(plan, spec),
          .batch_bytes = WideElements::device_bytes(widening(plan))};
}

/// One of the reductions that a thread has under way.
class AxisReduction {
 public:
  /// `completes_each` slab before it returns, as the elements' memory is not the thread's alone.
  AxisReduction(const StagingPlan& plan, const AxisReduceSpec& spec, ElementType wide,
                bool completes_each)
      : plan_(plan),
        spec_(spec),
        wide_(wide),
        completes_each_(completes_each),
        memory_(bytes_of_arrays(plan, spec)) {
    Scratch scratch(memory_.data());
    arrays_ = take_arrays(scratch, plan, spec);
    fill_bytes(arrays_.status, 0, sizeof(*arrays_.status), stream_.get());
    begin(spec.outputs);
  }

  void begin(std::uint64_t outputs) {
    if (outputs > spec_.outputs)
      throw Error("an engine cannot reduce " + std::to_string(outputs) + " outputs",
                  std::to_string(spec_.outputs) + " were planned", "");
    complete();
    spills_ = {};
    reduce_ = {.wide = wide_,
               .needs = spec_.needs,
               .outputs = outputs,
               .groups = std::max<std::uint64_t>(
                   columns_worth(plan_.slab_elements) / std::max<std::uint64_t>(outputs, 1), 1),
               .columns = arrays_.columns,
               .factors = spec_.factors,
               .spills = arrays_.spills,
               .status = arrays_.status};
    if (outputs != 0)
      kernels::clear_columns(reduce_.columns, reduce_.outputs * reduce_.groups, stream_.get());
    stream_.synchronize();
  }

  /// A slab is on its way.
  void expect() { ++expected_; }

  /// Returns whether all expected slabs were taken.
  bool has_all() const { return expected_ == 0; }

  /// Starts reducing a slab's elements, which become wide in `wide`. Waits for the one before.
  void take(const SlabValues& slab, WideElements& wide, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    complete();
    reduce_.elements = wide.widen(slab.elements, slab.count, slab.flat, stream);
    reduce_.counting = wide.counting();
    reduce_.count = slab.count;
    reduce_.rows = slab.indices;
    reduce_.indices = slab.flat;
    reduce_.resumed = false;
    reduce_columns(stream);
    if (completes_each_) complete();
    if (slab.count > 0) --expected_;
  }

  AxisParts finish() {
    complete();
    AxisParts parts;
    if (reduce_.outputs == 0) return parts;
    while (reduce_.groups > 1 &&
           leaves_columns([&] { kernels::merge_columns(reduce_, stream_.get()); })) {
    }
    for (std::uint64_t first = 0; first < reduce_.outputs; first += kernels::max_merging_threads)
      leaves_columns([&] { kernels::expand_columns(reduce_, first, stream_.get()); });
    download(parts);
    parts.spills = std::exchange(spills_, {});
    return parts;
  }

 private:
  void reduce_columns(cudaStream_t stream) {
    kernels::reduce_columns(reduce_, stream);
    copy_status(stream);
    reduced_.record(stream);
    under_way_ = stream;
  }

  void copy_status(cudaStream_t stream) {
    copy_to_host(&*status_, arrays_.status, sizeof(*arrays_.status), stream);
  }

  /// Completes the reduction of the slab last taken.
  void complete() {
    if (under_way_ == nullptr) return;
    reduced_.wait();
    while (status_->stopped != 0) {
      take_spills();
      reduce_.resumed = true;
      reduce_columns(under_way_);
      reduced_.wait();
    }
    under_way_ = nullptr;
    take_spills();
  }

  /// Launches kernels and takes their spills; returns whether a thread has stopped.
  template <class Launch>
  bool leaves_columns(const Launch& launch) {
    launch();
    copy_status(stream_.get());
    stream_.synchronize();
    const bool stopped = status_->stopped != 0;
    take_spills();
    return stopped;
  }

  /// Empties the list of spills, given a copy of the status.
  void take_spills() {
    if (status_->spilled == 0) return;
    spills_.add(downloaded_array<AxisSpill>(arrays_.spills, status_->spilled, stream_.get()));
    fill_bytes(arrays_.status, 0, sizeof(*arrays_.status), stream_.get());
    stream_.synchronize();
    *status_ = {};
  }

  /// Brings results to the host: a word that all outputs share comes once.
  void download(AxisParts& parts) {
    find_shared_words(parts);
    for_each_array(parts, [&]<class Part>(std::vector<Part>& to, const kernels::WordArray& words,
                                          std::size_t number) {
      const std::uint32_t varying = shared_->varying[number];
      if (words.stride == words.width && std::popcount(varying) == static_cast<int>(words.width)) {
        to = downloaded_array<Part>(reinterpret_cast<const Part*>(words.words), words.count,
                                    stream_.get());
        return;
      }
      Part first;
      std::memcpy(static_cast<void*>(&first), shared_->first[number], sizeof(first));
      to.assign(words.count, first);
      for (unsigned word = 0; word < words.width; ++word)
        if ((varying >> word & 1) != 0) download_word(words, word, to.data());
    });
  }

  /// Calls visit(array, words in device memory, number) for each array of results.
  template <class Visit>
  void for_each_array(AxisParts& parts, const Visit& visit) const {
    const kernels::AxisColumns& columns = reduce_.columns;
    const auto visit_if_there = [&]<class Part, class Column>(
                                    std::vector<Part>& to, const Column* from, std::size_t number) {
      constexpr std::size_t word = sizeof(std::uint64_t);
      static_assert(sizeof(Part) <= sizeof(Column) && sizeof(Part) <= sizeof(shared_->first[0]));
      if (from == nullptr) return;
      visit(to,
            kernels::WordArray{reinterpret_cast<const std::uint64_t*>(from), reduce_.outputs,
                               sizeof(Part) / word, sizeof(Column) / word},
            number);
    };
    visit_if_there(parts.counts, columns.counts, 0);
    visit_if_there(parts.sum, columns.sum, 1);
    visit_if_there(parts.absolute, columns.absolute, 2);
    visit_if_there(parts.squares, columns.squares, 3);
    visit_if_there(parts.minimum, columns.minimum, 4);
    visit_if_there(parts.maximum, columns.maximum, 5);
    visit_if_there(parts.first_nan, columns.first_nan, 6);
  }

  /// Waits for the GPU once for all arrays.
  void find_shared_words(AxisParts& parts) {
    const std::size_t bytes = sizeof(shared_->varying);
    fill_bytes(arrays_.varying, 0, bytes, stream_.get());
    for_each_array(parts, [&](const auto&, const kernels::WordArray& words, std::size_t number) {
      kernels::find_varying_words(words, arrays_.varying + number, stream_.get());
      copy_to_host(shared_->first[number], words.words, words.width * sizeof(std::uint64_t),
                   stream_.get());
    });
    copy_to_host(shared_->varying, arrays_.varying, bytes, stream_.get());
    stream_.synchronize();
  }

  template <class Part>
  void download_word(const kernels::WordArray& words, unsigned word, Part* to) {
    std::uint64_t* const packed = reduce_.columns.elements;
    const std::uint64_t bytes = words.count * sizeof(std::uint64_t);
    if (words_.size() < bytes) words_ = PinnedBuffer(spec_.outputs * sizeof(std::uint64_t));
    kernels::pack_word(words, word, packed, stream_.get());
    copy_to_host(words_.data(), packed, bytes, stream_.get());
    stream_.synchronize();
    const auto* const values = reinterpret_cast<const std::uint64_t*>(words_.data());
    for (std::uint64_t i = 0; i < words.count; ++i)
      std::memcpy(reinterpret_cast<std::byte*>(to + i) + word * sizeof(values[i]), &values[i],
                  sizeof(values[i]));
  }

  StagingPlan plan_;
  AxisReduceSpec spec_;
  ElementType wide_;
  bool completes_each_;
  DeviceBuffer memory_;
  ReduceArrays arrays_{};
  MappedValue<kernels::AxisReduceStatus> status_;
  MappedValue<SharedWords> shared_;
  PinnedBuffer words_;  ///< words of outputs on their way to the host
  kernels::AxisReduce reduce_{};
  AxisSpills spills_;
  std::mutex mutex_;  ///< serialises threads that take slabs
  std::atomic<int> expected_ = 0;
  Event reduced_;
  cudaStream_t under_way_ = nullptr;  ///< stream of a reduction that is not completed
  Stream stream_;                     ///< idle while slabs are reduced
};

std::uint64_t bytes_of(const Factors& factors) { return factors.period * sizeof(double); }

/// Copies factors to device memory, if there are any; returns a spec whose factors are there.
AxisReduceSpec with_factors(AxisReduceSpec spec, const DeviceBuffer& memory) {
  if (!spec.factors.any()) return spec;
  const Stream stream;
  copy_to_device(memory.data(), spec.factors.values, memory.size(), stream.get());
  stream.synchronize();
  spec.factors.values = reinterpret_cast<const double*>(memory.data());
  return spec;
}

using AxisReductions = std::vector<std::unique_ptr<AxisReduction>>;

/// Hands a batch's slabs to their reductions.
class AxisReduceStage final : public SlabStage {
 public:
  AxisReduceStage(const StagingPlan& plan, AxisReductions& reductions)
      : reductions_(reductions), wide_(widening(plan)) {
    wide_.load_kernel();
  }

  void take(const SlabValues& slab, cudaStream_t stream) override {
    reductions_.at(static_cast<std::size_t>(slab.slot))->take(slab, wide_, stream);
  }

 private:
  AxisReductions& reductions_;
  WideElements wide_;
};

class CudaAxisReduceEngine final : public AxisReduceEngine {
 public:
  CudaAxisReduceEngine(const Device& device, const StagingPlan& plan, const AxisReduceSpec& spec,
                       const AxisLayout& layout, const AxisMemory& memory)
      : device_(device),
        under_way_(layout.under_way),
        time_origin_(make_time_origin()),
        factors_(bytes_of(spec.factors)),
        reductions_(make_reductions(plan, with_factors(spec, factors_), layout)),
        flow_(device, without_decoding(plan), purpose_of(memory), layout.slabs, 2, stage::reduce,
              {}, time_origin_,
              [&] { return std::make_unique<AxisReduceStage>(plan, reductions_); }) {
    for (int thread = 0; thread < threads(); ++thread) turns_.emplace_back(thread, under_way_);
  }

  int threads() const override { return flow_.threads(); }
  int under_way() const override { return under_way_; }
  std::uint64_t slab_elements() const override { return flow_.layout().slot.elements; }
  bool decompresses() const override { return flow_.layout().decompresses; }

  void begin(int thread, std::uint64_t outputs) override {
    ThreadTurns& turns = turns_of(thread);
    at(turns.next()).begin(outputs);
    turns.begin();
  }

  Ticket take(int thread) override {
    Ticket ticket = flow_.take(thread);
    ticket.slot = turns_of(thread).last();
    return ticket;
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    if (slab.target.elements > 0) at(ticket.slot).expect();
    flow_.submit(ticket, slab);
  }

  AxisParts finish(int thread) override {
    ThreadTurns& turns = turns_of(thread);
    AxisReduction& reduction = at(turns.first());
    flow_.batches().finish_until([&] { return reduction.has_all(); });
    turns.end();
    return reduction.finish();
  }

  std::vector<StageTiming> timings() const override { return flow_.timings(); }

 private:
  static AxisReductions make_reductions(const StagingPlan& plan, const AxisReduceSpec& spec,
                                        const AxisLayout& layout) {
    const ElementType wide = WideElements(widening(plan)).type();
    AxisReductions reductions;
    for (int place = 0; place < layout.slabs.slots * layout.under_way; ++place)
      reductions.push_back(
          std::make_unique<AxisReduction>(plan, spec, wide, layout.slabs.decompresses));
    return reductions;
  }

  /// Returns a reduction and makes its device current.
  AxisReduction& at(int place) const {
    device_.activate();
    return *reductions_.at(static_cast<std::size_t>(place));
  }

  ThreadTurns& turns_of(int thread) { return turns_.at(static_cast<std::size_t>(thread)); }

  Device device_;
  int under_way_;
  TimedEvent time_origin_;
  DeviceBuffer factors_;
  AxisReductions reductions_;
  SlabFlow flow_;
  std::vector<ThreadTurns> turns_;  ///< one per thread
};

}  // namespace

std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const Device& device,
                                                          const StagingPlan& plan,
                                                          const AxisReduceSpec& spec) {
  if (spec.factors.rests != nullptr) return nullptr;
  const AxisMemory memory = memory_for(plan, spec);
  const std::uint64_t limit = device.memory_limit();
  const std::uint64_t factors = bytes_of(spec.factors);
  if (factors > 0 && limit < factors + least_bytes(plan, memory)) return nullptr;
  const AxisLayout layout = layout_of(plan, memory, spec.under_way, limit - factors);
  return std::make_unique<CudaAxisReduceEngine>(device, plan, spec, layout, memory);
}

}  // namespace warpfold::cuda
