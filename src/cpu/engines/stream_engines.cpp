#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/engines/engines.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/products/weighted_reducer.hpp"
#include "cpu/reduce/axis_reducer.hpp"
#include "cpu/reduce/bin_counter.hpp"
#include "cpu/reduce/chunk_reducer.hpp"

namespace warpfold::cpu {
namespace {

/// Takes each slab in the thread that brings it, with a Worker for each slot.
template <class Engine, class Worker>
class HostStreamEngine : public Engine {
 public:
  int slots() const final { return static_cast<int>(slots_.size()); }
  std::span<std::byte> buffer(int slot) final { return at(slot).buffer.span(); }
  std::vector<StageTiming> timings() const final { return {}; }

 protected:
  /// Calls make(), which gives a Worker, for each slot.
  template <class Make>
  HostStreamEngine(const StagingPlan& plan, const Make& make) {
    for (int slot = 0; slot < plan.slots; ++slot)
      slots_.push_back({PageBuffer(plan.slot_bytes()), make()});
  }

  Worker& worker(int slot) { return at(slot).worker; }
  const std::byte* staged(int slot) { return buffer(slot).data(); }

 private:
  struct Slot {
    PageBuffer buffer;
    Worker worker;
  };

  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

  std::vector<Slot> slots_;
};

/// Takes a slab's chunks apart for a Sink, in one slot.
template <class Sink>
struct SlabWorker {
  std::unique_ptr<Sink> sink;
  ChunkReducer chunks;
};

template <class Result, class Sink>
class HostResultEngine final : public HostStreamEngine<ResultEngine<Result>, SlabWorker<Sink>> {
  using Base = HostStreamEngine<ResultEngine<Result>, SlabWorker<Sink>>;

 public:
  /// Calls make_sink() for each slot, and add(result, sink) for each in the end.
  template <class MakeSink>
  HostResultEngine(const Kernels& kernels, const StagingPlan& plan, const MakeSink& make_sink,
                   void (*add)(Result&, Sink&), Result nothing)
      : Base(plan,
             [&] {
               return SlabWorker<Sink>{make_sink(),
                                       ChunkReducer(kernels, size_of(plan.format.type))};
             }),
        slab_elements_(plan.slab_elements),
        add_(add),
        nothing_(std::move(nothing)) {}

  std::uint64_t slab_elements() const override { return slab_elements_; }

  void submit(int slot, const StagedChunks& slab) override {
    auto& [sink, chunks] = this->worker(slot);
    chunks.reduce(slab, this->staged(slot), *sink);
  }

  Result finish() override {
    Result result = nothing_;
    for (int slot = 0; slot < this->slots(); ++slot) add_(result, *this->worker(slot).sink);
    return result;
  }

 private:
  std::uint64_t slab_elements_;
  void (*add_)(Result&, Sink&);
  Result nothing_;
};

void add_total(Accumulator& total, RangeReducer& reducer) {
  total.merge(reducer.take());
  total.normalize();
}

void add_counts(HistogramCounts& total, BinCounter& counter) { total.merge(counter.counts()); }

class HostAxisReduceEngine final
    : public HostStreamEngine<AxisReduceEngine, std::unique_ptr<AxisReducer>> {
 public:
  HostAxisReduceEngine(const Kernels& kernels, const StagingPlan& plan, const AxisReduceSpec& spec)
      : HostStreamEngine(plan,
                         [&] {
                           return spec.factors.any()
                                      ? make_weighted_reducer(kernels, plan.format, plan.decoding,
                                                              spec.needs, spec.factors)
                                      : make_axis_reducer(kernels, plan.format, plan.decoding,
                                                          spec.needs);
                         }),
        slab_elements_(plan.slab_elements) {}

  std::uint64_t slab_elements() const override { return slab_elements_; }
  void begin(int slot, std::uint64_t outputs) override { worker(slot)->begin(outputs); }
  void submit(int slot, const StagedChunks& slab) override {
    worker(slot)->reduce(slab, staged(slot));
  }
  AxisParts finish(int slot) override { return worker(slot)->finish(); }

 private:
  std::uint64_t slab_elements_;
};

}  // namespace

std::unique_ptr<ReduceEngine> make_reduce_engine(const Kernels& kernels, const StagingPlan& plan,
                                                 ReduceNeeds needs) {
  return std::make_unique<HostResultEngine<Accumulator, RangeReducer>>(
      kernels, plan, [&] { return make_range_reducer(kernels, plan.format, needs, plan.decoding); },
      add_total, Accumulator::empty());
}

std::unique_ptr<HistogramEngine> make_histogram_engine(const Kernels& kernels,
                                                       const StagingPlan& plan,
                                                       const std::vector<std::uint64_t>& bin_keys) {
  return std::make_unique<HostResultEngine<HistogramCounts, BinCounter>>(
      kernels, plan, bin_counters(kernels, plan.format, bin_keys, plan.decoding), add_counts,
      HistogramCounts{std::vector<std::uint64_t>(bin_keys.size() - 1)});
}

std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const Kernels& kernels,
                                                          const StagingPlan& plan,
                                                          const AxisReduceSpec& spec) {
  return std::make_unique<HostAxisReduceEngine>(kernels, plan, spec);
}

}  // namespace warpfold::cpu
