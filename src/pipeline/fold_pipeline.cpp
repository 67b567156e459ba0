#include "pipeline/fold_pipeline.hpp"

#include <algorithm>
#include <deque>

#include "pipeline/collective.hpp"
#include "pipeline/rounds.hpp"
#include "pipeline/run_watch.hpp"
#include "pipeline/slab_reader.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// Takes slabs from the reader to the engine and their slots back.
class SlabPump {
 public:
  SlabPump(io::Dataset& dataset, FoldEngine& engine, ElementRange range,
           std::uint64_t slab_elements)
      : engine_(engine),
        element_size_(size_of(dataset.info().format.type)),
        reader_(dataset, engine, range, slab_elements) {}

  /// Folds the next slab; false at the end.
  bool step() {
    const std::optional<SlabReader::Slab> slab = reader_.next();
    if (!slab) return false;
    const std::uint64_t bytes = slab->range.count * element_size_;
    clock_.time(bytes, [&] {
      engine_.submit(slab->slot, slab->range.first, slab->range.count);
      under_way_.push_back(slab->slot);
      if (static_cast<int>(under_way_.size()) >= engine_.slots() - 1) release_oldest();
    });
    bytes_done_ += bytes;
    return true;
  }

  Accumulator finish() {
    return clock_.time(0, [&] {
      while (!under_way_.empty()) release_oldest();
      return engine_.finish();
    });
  }

  std::uint64_t bytes_done() const { return bytes_done_; }
  std::vector<StageTiming> timings() const { return {reader_.timing(), clock_.timing()}; }

 private:
  void release_oldest() {
    if (under_way_.empty()) return;
    engine_.wait(under_way_.front());
    reader_.release(under_way_.front());
    under_way_.pop_front();
  }

  FoldEngine& engine_;
  std::size_t element_size_;
  SlabReader reader_;
  std::deque<int> under_way_;
  StageClock clock_{"fold"};
  std::uint64_t bytes_done_ = 0;
};

}  // namespace

std::uint64_t common_slab_elements(const SlabCut& cut, FoldEngine& engine,
                                   const io::DatasetInfo& info,
                                   const mpi::Communicator& communicator) {
  const std::uint64_t fitting = engine.buffer(0).size() / size_of(info.format.type);
  return mpi::minimum({std::min(cut.slab_elements, fitting)}, communicator).front();
}

FoldOutcome fold_partition(io::Dataset& dataset, FoldEngine& engine, const SlabCut& cut,
                           const RunOptions& options, const mpi::Communicator& communicator) {
  const io::DatasetInfo& info = dataset.info();
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  const auto rank = static_cast<std::uint64_t>(communicator.rank());
  const ElementRange mine = partition(info.elements, cut.granule, ranks, rank);
  const std::uint64_t most_elements = partition(info.elements, cut.granule, ranks, 0).count;
  const std::uint64_t total_bytes = mine.count * size_of(info.format.type);

  SlabPump pump(dataset, engine, mine, cut.slab_elements);
  in_rounds(communicator, ceil_div(most_elements, cut.slab_elements), [&] {
    leave_if_interrupted(options);
    const bool more = pump.step();
    report_progress(options, pump.bytes_done(), total_bytes);
    return more;
  });
  FoldOutcome outcome;
  run_on_all(communicator, [&] { outcome.accumulator = pump.finish(); });
  outcome.stages = pump.timings();
  return outcome;
}

}  // namespace warpfold::pipeline
