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

/// Takes each slab in the thread that brings it, with a Worker for each thread.
template <class Interface, class Worker>
class HostStreamEngine : public Interface {
 public:
  int threads() const final { return static_cast<int>(threads_.size()); }
  std::uint64_t slab_elements() const final { return slab_elements_; }
  Ticket take(int thread) final { return {at(thread).memory.span(), thread}; }
  std::vector<StageTiming> timings() const final { return {}; }

 protected:
  /// Calls make(), which gives a Worker, for each thread.
  template <class Make>
  HostStreamEngine(const StagingPlan& plan, const Make& make) : slab_elements_(plan.slab_elements) {
    for (int thread = 0; thread < plan.threads; ++thread)
      threads_.push_back({PageBuffer(plan.slot_bytes()), make()});
  }

  Worker& worker(int thread) { return at(thread).worker; }

 private:
  struct Thread {
    PageBuffer memory;
    Worker worker;
  };

  Thread& at(int thread) { return threads_[static_cast<std::size_t>(thread)]; }

  std::uint64_t slab_elements_;
  std::vector<Thread> threads_;
};

/// Takes a slab's chunks apart for a Sink, in one thread.
template <class Sink>
struct SlabWorker {
  std::unique_ptr<Sink> sink;
  ChunkReducer chunks;
};

template <class Result, class Sink>
class HostResultEngine final : public HostStreamEngine<ResultEngine<Result>, SlabWorker<Sink>> {
  using Base = HostStreamEngine<ResultEngine<Result>, SlabWorker<Sink>>;

 public:
  /// Calls make_sink() for each thread, and add(result, sink) for each in the end.
  template <class MakeSink>
  HostResultEngine(const Kernels& kernels, const StagingPlan& plan, const MakeSink& make_sink,
                   void (*add)(Result&, Sink&), Result nothing)
      : Base(plan,
             [&] {
               return SlabWorker<Sink>{make_sink(),
                                       ChunkReducer(kernels, size_of(plan.format.type))};
             }),
        add_(add),
        nothing_(std::move(nothing)) {}

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    auto& [sink, chunks] = this->worker(ticket.thread);
    chunks.reduce(slab, ticket.memory.data(), *sink);
  }

  Result finish() override {
    Result result = nothing_;
    for (int thread = 0; thread < this->threads(); ++thread)
      add_(result, *this->worker(thread).sink);
    return result;
  }

 private:
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
      : HostStreamEngine(plan, [&] {
          return spec.factors.any()
                     ? make_weighted_reducer(kernels, plan.format, plan.decoding, spec.needs,
                                             spec.factors)
                     : make_axis_reducer(kernels, plan.format, plan.decoding, spec.needs);
        }) {}

  void begin(int thread, std::uint64_t outputs) override { worker(thread)->begin(outputs); }
  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    worker(ticket.thread)->reduce(slab, ticket.memory.data());
  }
  AxisParts finish(int thread) override { return worker(thread)->finish(); }
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
