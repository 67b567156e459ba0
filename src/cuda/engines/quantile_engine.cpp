#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/engine/quantile_outputs.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/quantiles/key_table.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/axis_layout.hpp"
#include "cuda/staging/slab_batches.hpp"
#include "cuda/staging/slab_flow.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

ElementType values_of(const StagingPlan& plan) {
  return plan.decoding.value_type(plan.format.type);
}

/// Returns a table's search, of the sizes that the spec has; of no memory where `scratch` counts.
kernels::KeySearch take_search(Scratch& scratch, ElementType values,
                               const QuantileEngineSpec& spec) {
  const QuantileSpec& quantiles = spec.quantiles.quantiles;
  const std::uint64_t searches = quantiles.fractions.size() * spec.outputs;
  const std::uint64_t found = searches * kernels::found_key_bytes(values);
  const bool between = !gives_elements(quantiles.method);
  return {.table = {.values = values,
                    .keys = scratch.take<std::byte>(spec.elements * size_of(values)),
                    .left_out = scratch.take<std::uint32_t>(spec.outputs),
                    .nan = scratch.take<std::uint32_t>(spec.outputs)},
          .method = quantiles.method,
          .fractions = scratch.take<double>(quantiles.fractions.size()),
          .count = quantiles.fractions.size(),
          .lower = scratch.take<std::byte>(found),
          .upper = between ? scratch.take<std::byte>(found) : nullptr,
          .below = scratch.take<std::uint32_t>(kernels::pivots_of_round * searches)};
}

std::uint64_t table_bytes(ElementType values, const QuantileEngineSpec& spec) {
  Scratch counter;
  take_search(counter, values, spec);
  return counter.bytes();
}

/// Keys found of some outputs, and what is no number, in memory of the host.
template <class Element>
struct FoundKeys {
  using Found = std::conditional_t<kernels::found_key_bytes(element_type_of<Element>()) == 8,
                                   std::uint64_t, std::uint32_t>;

  Found* lower;  ///< fraction by fraction
  Found* upper;
  std::uint32_t* left_out;
  std::uint32_t* nan;
};

template <class Element>
FoundKeys<Element> take_found(Scratch& scratch, const kernels::KeySearch& search,
                              std::uint64_t outputs) {
  using Found = typename FoundKeys<Element>::Found;
  const std::uint64_t found = search.count * outputs;
  return {.lower = scratch.take<Found>(found),
          .upper = scratch.take<Found>(search.upper != nullptr ? found : 0),
          .left_out = scratch.take<std::uint32_t>(outputs),
          .nan = scratch.take<std::uint32_t>(outputs)};
}

/// A table in device memory, one after the other of those whose numbers differ by a multiple of
/// their number at once.
class Table {
 public:
  Table(ElementType values, const QuantileEngineSpec& spec, const TimedEvent& time_origin)
      : capacity_(spec.elements),
        outputs_(spec.outputs),
        memory_(table_bytes(values, spec)),
        working_(time_origin) {
    Scratch scratch(memory_.data());
    search_ = take_search(scratch, values, spec);
    const std::vector<double>& fractions = spec.quantiles.quantiles.fractions;
    copy_to_device(const_cast<double*>(search_.fractions), fractions.data(),
                   fractions.size() * sizeof(double), stream_.get());
    stream_.synchronize();
  }

  SpanTimer& working() { return working_; }
  const kernels::KeySearch& keys() const { return search_; }

  /// Makes room for the events of one more batch; returns its number.
  std::size_t add_batch() {
    gathered_.emplace_back();
    return gathered_.size() - 1;
  }

  /// Begins a table unless it is begun.
  void begin(std::uint64_t number, std::uint64_t outputs) {
    const std::lock_guard lock(mutex_);
    if (number_ == number) return;
    if (outputs == 0 || outputs > outputs_)
      throw Error("a table can't have " + std::to_string(outputs) + " outputs",
                  std::to_string(outputs_) + " were planned", "");
    number_ = number;
    search_.table.outputs = outputs;
    next_row_ = 0;
    fill_bytes(search_.table.left_out, 0, outputs * sizeof(std::uint32_t), stream_.get());
    fill_bytes(search_.table.nan, 0, outputs * sizeof(std::uint32_t), stream_.get());
    begun_.record(stream_.get());
  }

  /// A slab is on its way.
  void expect() { ++expected_; }
  bool has_all() const { return expected_ == 0; }

  /// Starts bringing a slab's keys to the next rows.
  void take(const SlabValues& slab, const Decoding& decoding, std::size_t batch,
            cudaStream_t stream) {
    const std::uint64_t outputs = search_.table.outputs;
    const std::uint64_t rows = slab.count / outputs;
    const std::uint64_t row = next_row_.fetch_add(rows);
    if (rows * outputs != slab.count || (row + rows) * outputs > capacity_)
      throw Error("a table has no room for a slab of " + std::to_string(slab.count) + " elements",
                  "it has rows of " + std::to_string(outputs), "");
    begun_.delay(stream);
    kernels::gather_keys({slab.elements, slab.count, slab.format, decoding, slab.flat},
                         search_.table, row, stream);
    gathered_[batch].record(stream);
    --expected_;
  }

  void search() {
    for (const Event& gathered : gathered_) gathered.delay(stream_.get());
    search_.table.rows = next_row_;
    working_.begin(stream_.get());
    kernels::search_keys(search_, stream_.get());
    working_.end(stream_.get(), 0);
    searched_.record(stream_.get());
  }

  /// Makes what is put into `stream` later wait for the keys that are looked for.
  void delay(cudaStream_t stream) const { searched_.delay(stream); }

 private:
  std::uint64_t capacity_;
  std::uint64_t outputs_;
  DeviceBuffer memory_;
  kernels::KeySearch search_{};
  std::mutex mutex_;
  std::optional<std::uint64_t> number_;
  std::atomic<std::uint64_t> next_row_ = 0;
  std::atomic<int> expected_ = 0;
  Event begun_;
  std::vector<Event> gathered_;  ///< one per batch
  Event searched_;
  SpanTimer working_;
  Stream stream_;
};

using Tables = std::vector<std::unique_ptr<Table>>;

/// One thread's table, and its way back from the GPU.
struct QuantileThread {
  std::size_t table = 0;  ///< place of the table that its slabs go to
  PinnedBuffer memory;
  Stream stream;
};

/// State shared by threads and batches.
struct QuantileState {
  QuantileState(const StagingPlan& plan, const QuantileEngineSpec& spec, const SlabLayout& layout,
                const TimedEvent& time_origin)
      : decoding(plan.decoding), decompresses(layout.decompresses) {
    for (int table = 0; table < spec.tables; ++table)
      tables.push_back(std::make_unique<Table>(values_of(plan), spec, time_origin));
    for (int thread = 0; thread < layout.slots; ++thread)
      threads.push_back(std::make_unique<QuantileThread>());
  }

  QuantileThread& at(int thread) { return *threads.at(static_cast<std::size_t>(thread)); }

  Decoding decoding;
  bool decompresses;
  Tables tables;
  std::vector<std::unique_ptr<QuantileThread>> threads;
};

/// Hands a batch's slabs to their tables: those of a thread; or those of several, whose slots are
/// places of tables.
class QuantileStage final : public SlabStage {
 public:
  QuantileStage(const StagingPlan& plan, QuantileState& state) : state_(state) {
    for (const auto& table : state.tables) batch_ = table->add_batch();
    kernels::load_gathering(plan.format.type);
    kernels::load_search(values_of(plan));
  }

  void take(const SlabValues& slab, cudaStream_t stream) override {
    if (slab.count == 0) return;
    const std::size_t table =
        state_.decompresses ? static_cast<std::size_t>(slab.slot) : state_.at(slab.slot).table;
    state_.tables.at(table)->take(slab, state_.decoding, batch_, stream);
  }

 private:
  QuantileState& state_;
  std::size_t batch_ = 0;
};

std::vector<SpanTimer*> timers_of(const Tables& tables) {
  std::vector<SpanTimer*> timers;
  for (const auto& table : tables) timers.push_back(&table->working());
  return timers;
}

AxisMemory memory_of_search() { return {.verb = "find quantiles along axes", .turn_bytes = 1}; }

class CudaQuantileEngine final : public QuantileEngine {
 public:
  CudaQuantileEngine(const Device& device, const StagingPlan& plan, const QuantileEngineSpec& spec,
                     const SlabLayout& layout)
      : device_(device),
        quantiles_(spec.quantiles),
        values_(values_of(plan)),
        time_origin_(make_time_origin()),
        state_(plan, spec, layout, time_origin_),
        flow_(device, without_decoding(plan), purpose_of(memory_of_search()), layout, 2,
              stage::reduce, timers_of(state_.tables), time_origin_,
              [&] { return std::make_unique<QuantileStage>(plan, state_); }) {}

  int threads() const override { return flow_.threads(); }
  std::uint64_t slab_elements() const override { return flow_.layout().slot.elements; }
  bool decompresses() const override { return flow_.layout().decompresses; }

  void fill(int thread, std::uint64_t table, std::uint64_t outputs) override {
    device_.activate();
    state_.at(thread).table = place_of(table);
    at(table).begin(table, outputs);
  }

  Ticket take(int thread) override {
    Ticket ticket = flow_.take(thread);
    ticket.slot = decompresses() ? static_cast<int>(state_.at(thread).table) : thread;
    return ticket;
  }

  void submit(const Ticket& ticket, const StagedChunks& slab) override {
    if (slab.target.elements == 0) return;
    state_.tables.at(state_.at(ticket.thread).table)->expect();
    flow_.submit(ticket, slab);
  }

  void search(std::uint64_t number) override {
    device_.activate();
    Table& table = at(number);
    flow_.batches().finish_until([&] { return table.has_all(); });
    table.search();
  }

  void find(int thread, std::uint64_t number, ElementRange outputs, std::byte* out) override {
    device_.activate();
    visit_element_type(values_, [&](auto value) {
      find_of<decltype(value)>(state_.at(thread), at(number), outputs, out);
    });
  }

  std::vector<StageTiming> timings() const override { return flow_.timings(); }

 private:
  std::size_t place_of(std::uint64_t table) const { return table % state_.tables.size(); }
  Table& at(std::uint64_t table) { return *state_.tables[place_of(table)]; }

  template <class Element>
  void find_of(QuantileThread& thread, const Table& table, ElementRange outputs, std::byte* out) {
    using Key = Word<Element>;
    const kernels::KeySearch& search = table.keys();
    Scratch counter;
    take_found<Element>(counter, search, outputs.count);
    if (thread.memory.size() < counter.bytes()) thread.memory = PinnedBuffer(counter.bytes());
    Scratch scratch(thread.memory.data());
    const FoundKeys<Element> found = take_found<Element>(scratch, search, outputs.count);
    table.delay(thread.stream.get());
    const auto copy = [&](auto* to, const auto* from) {
      copy_to_host(to, from + outputs.first, outputs.count * sizeof(*to), thread.stream.get());
    };
    const auto copy_found = [&](auto* to, const std::byte* from) {
      for (std::uint64_t i = 0; from != nullptr && i < search.count; ++i)
        copy(to + i * outputs.count,
             reinterpret_cast<const std::remove_pointer_t<decltype(to)>*>(from) +
                 i * search.table.outputs);
    };
    copy_found(found.lower, search.lower);
    copy_found(found.upper, search.upper);
    copy(found.left_out, search.table.left_out);
    copy(found.nan, search.table.nan);
    thread.stream.synchronize();

    const QuantileOutputs<Element> quantiles(quantiles_);
    for (std::uint64_t line = 0; line < outputs.count; ++line)
      quantiles.write(search.table.rows - found.left_out[line] - found.nan[line],
                      found.nan[line] != 0, outputs.count, line, out,
                      [&](std::size_t i, const QuantileNeighbours& between) {
                        const std::uint64_t at = i * outputs.count + line;
                        const auto lower = static_cast<Key>(found.lower[at]);
                        if (between.upper == between.lower) return std::pair(lower, lower);
                        return std::pair(lower, static_cast<Key>(found.upper[at]));
                      });
  }

  Device device_;
  LineQuantileSpec quantiles_;
  ElementType values_;
  TimedEvent time_origin_;
  QuantileState state_;
  SlabFlow flow_;
};

}  // namespace

std::unique_ptr<QuantileEngine> make_quantile_engine(const Device& device,
                                                     const StagingPlan& wanted,
                                                     const QuantileEngineSpec& spec) {
  StagingPlan plan = wanted;
  plan.slots_per_thread = 1;
  if (spec.quantiles.quantiles.fractions.size() > most_engine_quantiles ||
      spec.elements > std::numeric_limits<std::uint32_t>::max())
    return nullptr;
  const std::uint64_t limit = device.memory_limit();
  const std::uint64_t tables =
      static_cast<std::uint64_t>(spec.tables) * table_bytes(values_of(plan), spec);
  const AxisMemory memory = memory_of_search();
  if (limit < tables + least_bytes(plan, memory)) return nullptr;
  const AxisLayout layout = layout_of(plan, memory, 2, limit - tables);
  return std::make_unique<CudaQuantileEngine>(device, plan, spec, layout.slabs);
}

}  // namespace warpfold::cuda
