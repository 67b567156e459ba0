#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/values/byte_order.hpp"
#include "cpu/chunks/bit_runs.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/chunks/masked_places.hpp"
#include "cpu/engines/host_backend.hpp"
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

/// One thread's way of elements to a ReadTarget.
class ElementPlacer final : public RangeSink {
 public:
  ElementPlacer(const Kernels& kernels, const StagingPlan& plan, const ReadTarget& target)
      : target_(target),
        stored_bytes_(size_of(plan.format.type)),
        type_(plan.decoding.value_type(plan.format.type)),
        mask_(kernels, plan.decoding.mask),
        decoder_(make_element_decoder(kernels, plan.format, plan.decoding)) {}

  void reduce(const std::byte* elements, std::uint64_t n, const ElementIndices& indices) override {
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size = static_cast<std::size_t>(std::min(block_elements, n - first));
      const ElementIndices here = indices.from(first);
      const std::byte* const values =
          all_values(mask_.decode(*decoder_, elements + first * stored_bytes_, size, here), size);
      for_each_index_run(here.box(), here.first_place(), size,
                         std::numeric_limits<std::uint64_t>::max(),
                         [&](std::uint64_t index, std::size_t before, std::size_t run) {
                           bring(values + before * size_of(type_), {index, run});
                         });
    }
  }

 private:
  /// Returns values of all elements, as they are where all count.
  const std::byte* all_values(const DecodedValues& decoded, std::size_t n) {
    if (decoded.kept == n) return decoded.values;
    if (decoded.kept > 0) std::memcpy(values_, decoded.values, n * size_of(type_));
    visit_element_type(type_, [&](auto value) {
      using Bits = Word<decltype(value)>;
      auto* const bits = reinterpret_cast<Bits*>(values_);
      for (std::size_t i = 0; i < n; ++i)
        if (decoded.kept == 0 || (decoded.counts[i / word_bits] >> i % word_bits & 1) == 0)
          bits[i] = static_cast<Bits>(target_.left_out);
    });
    return values_;
  }

  void bring(const std::byte* values, ElementRange indices) const {
    const std::uint64_t first = std::max(indices.first, target_.indices.first);
    const std::uint64_t end = std::min(indices.end(), target_.indices.end());
    if (first >= end) return;
    const std::size_t bytes = size_of(type_);
    std::memcpy(target_.values + (first - target_.indices.first) * bytes,
                values + (first - indices.first) * bytes, (end - first) * bytes);
  }

  ReadTarget target_;
  std::size_t stored_bytes_;
  ElementType type_;
  MaskedPlaces mask_;
  std::unique_ptr<ElementDecoder> decoder_;
  alignas(64) std::byte values_[block_elements * sizeof(std::uint64_t)];
};

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

std::unique_ptr<ReduceEngine> HostBackend::make_reduce_engine(const StagingPlan& plan,
                                                              ReduceNeeds needs) {
  return made<HostResultEngine<Accumulator, RangeReducer>>(
      plan, kernels_, plan,
      [&] { return make_range_reducer(kernels_, plan.format, needs, plan.decoding); }, add_total,
      Accumulator::empty());
}

std::unique_ptr<HistogramEngine> HostBackend::make_histogram_engine(
    const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) {
  return made<HostResultEngine<HistogramCounts, BinCounter>>(
      plan, kernels_, plan, bin_counters(kernels_, plan.format, bin_keys, plan.decoding),
      add_counts, HistogramCounts{std::vector<std::uint64_t>(bin_keys.size() - 1)});
}

std::unique_ptr<ReadEngine> HostBackend::make_read_engine(const StagingPlan& plan,
                                                          const ReadTarget& target) {
  return made<HostResultEngine<AllRead, ElementPlacer>>(
      plan, kernels_, plan, [&] { return std::make_unique<ElementPlacer>(kernels_, plan, target); },
      [](AllRead&, ElementPlacer&) {}, AllRead{});
}

std::unique_ptr<AxisReduceEngine> HostBackend::make_axis_reduce_engine(const StagingPlan& plan,
                                                                       const AxisReduceSpec& spec) {
  return made<HostAxisReduceEngine>(plan, kernels_, plan, spec);
}

}  // namespace warpfold::cpu
