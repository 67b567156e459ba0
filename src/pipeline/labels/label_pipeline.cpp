#include "pipeline/labels/label_pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "core/values/ordered_key.hpp"
#include "cpu/machine/machine.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/label_reducer.hpp"
#include "mpi/agreement.hpp"
#include "mpi/message.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// A thread hands over what it has of so many labels, so that its memory stays within bounds: some
/// 300 MB. To hand over costs more than to reduce as many elements.
constexpr std::uint64_t max_labels_of_thread = std::uint64_t{1} << 20;

/// State shared by a rank's threads.
struct LabelJob {
  LabelJob(const WorkTiling& tiling, DatasetView& dataset, DatasetLabels& its_labels,
           ReduceNeeds reduce_needs, StageRegistry& stages)
      : boxes(tiling),
        view(dataset),
        labels(its_labels),
        needs(reduce_needs),
        elements(dataset.dataset, stages),
        totals(dataset.value_type(), reduce_needs) {
    if (its_labels.dataset) label_elements.emplace(*its_labels.dataset, stages);
  }

  const WorkTiling& boxes;
  const DatasetView& view;
  const DatasetLabels& labels;
  ReduceNeeds needs;
  RegionSource elements;
  std::optional<RegionSource> label_elements;  ///< labels that are not in memory
  std::mutex mutex;
  LabelTotals totals;
};

/// Returns the part of a box along its last dimensions, those that labels have.
std::vector<std::uint64_t> last(std::span<const std::uint64_t> of_box, std::size_t dimensions) {
  const auto part = of_box.last(dimensions);
  return {part.begin(), part.end()};
}

/// Takes boxes.
class LabelConsumer final : public Consumer {
 public:
  LabelConsumer(LabelJob& job, PassThread& thread)
      : job_(job),
        thread_(thread),
        element_bytes_(size_of(job.view.info().format.type)),
        label_dimensions_(job.labels.shape.size()),
        staging_(staging_bytes(job.boxes, job.elements)),
        reader_(job.elements),
        reducer_(cpu::make_label_reducer(job.view.info().format, job.view.decoding, job.needs)),
        reducing_(thread.stages, stage::reduce),
        combining_(thread.stages, stage::combine) {
    if (job.label_elements) stored_labels_.emplace(job);
  }

  void take(const PassItem& item) override {
    reduce(job_.boxes.box(0, item.number));
    if (numbers_.size() >= max_labels_of_thread) finish();
  }

  /// Adds what this thread has to the rank's totals.
  void finish() override {
    const AxisParts parts = reducing_.time(0, [&] { return reducer_->finish(); });
    combining_.time(0, [&] {
      const std::lock_guard lock(job_.mutex);
      job_.totals.merge(numbers_.labels(), parts);
    });
    numbers_ = {};
    numbered_.reset();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    if (stored_labels_) add_up(stages, stored_labels_->reader.timings());
    append(stages, {reducing_.timing(), combining_.timing()});
    return stages;
  }

 private:
  void reduce(const Hyperslab& box) {
    number_labels({last(box.start, label_dimensions_), last(box.count, label_dimensions_)});
    const std::uint64_t bytes = box.elements() * element_bytes_;
    const StagedChunks slab = reader_.read(box, row_major_strides(box.count), staging_.span());
    reducing_.time(
        bytes, [&] { reducer_->reduce(slab, staging_.span().data(), places_, numbers_.size()); });
    thread_.done += bytes;
  }

  /// Numbers the labels of a box, unless they are the last box's.
  void number_labels(const Hyperslab& box) {
    if (numbered_ == box) return;
    places_.resize(box.elements());
    if (stored_labels_)
      number_stored_labels(box);
    else
      reducing_.time(0, [&] { number_labels_in_memory(box); });
    numbered_ = box;
  }

  void number_stored_labels(const Hyperslab& box) {
    auto& labels = *stored_labels_;
    const StagedChunks slab =
        labels.reader.read(box, row_major_strides(box.count), labels.staging.span());
    reducing_.time(0,
                   [&] { labels.decoder(slab, labels.staging.span().data(), numbers_, places_); });
  }

  void number_labels_in_memory(const Hyperslab& box) {
    for_each_run(
        box, job_.labels.shape, [&](std::uint64_t place, std::uint64_t index, std::uint64_t n) {
          for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint32_t number = job_.labels.numbers[index + i];
            places_[place + i] = number == cpu::no_label ? number : numbers_(ordered_key(number));
          }
        });
  }

  /// Labels that are read.
  struct StoredLabels {
    explicit StoredLabels(LabelJob& job)
        : staging(job.label_elements->bytes_of_box(
              last(job.boxes.box_extents(), job.labels.shape.size()))),
          reader(*job.label_elements),
          decoder(cpu::make_label_decoder(job.labels.dataset->info().format, job.labels.decoding)) {
    }

    cpu::PageBuffer staging;
    RegionReader reader;
    cpu::LabelDecoder decoder;
  };

  LabelJob& job_;
  PassThread& thread_;
  std::size_t element_bytes_;
  std::size_t label_dimensions_;
  cpu::PageBuffer staging_;
  RegionReader reader_;
  std::optional<StoredLabels> stored_labels_;
  std::unique_ptr<cpu::LabelReducer> reducer_;
  StageTimer reducing_;
  StageTimer combining_;
  LabelNumbers numbers_;
  std::optional<Hyperslab> numbered_;  ///< the labels that `places_` has
  std::vector<std::uint32_t> places_;
};

/// Combines ranks' totals on the root, in a tree. Collective; throws the same Error on every rank.
void combine(LabelTotals& totals, const mpi::Communicator& communicator) {
  const int rank = communicator.rank();
  std::exception_ptr failure;
  const auto attempt = [&](const auto& body) {
    if (!failure) failure = capture_exception(body);
  };
  for (int step = 1; step < communicator.size(); step *= 2) {
    if (rank % (2 * step) != 0) {
      std::vector<std::uint64_t> words;
      attempt([&] { words = totals.packed(); });
      mpi::send(0, std::as_bytes(std::span(words)), communicator, rank - step);
      break;
    }
    if (rank + step >= communicator.size()) continue;
    std::vector<std::byte> bytes;
    mpi::receive(bytes, communicator, rank + step);
    attempt([&] {
      const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
      if (!bytes.empty()) totals.merge({words, bytes.size() / sizeof(std::uint64_t)});
    });
  }
  mpi::throw_on_all_ranks(failure, communicator);
}

}  // namespace

LabelTotals reduce_labels(DatasetView& view, DatasetLabels& labels, const ReduceNeeds& needs,
                          Run& run, std::vector<StageTiming>& stages) {
  const mpi::Communicator& communicator = run.communicator;
  if (view.info().elements == 0) return {view.value_type(), needs};
  run_on_all(communicator, [&] { run.cores(); });
  const WorkPlan plan = plan_work(view.info(), {.items = Items::boxes}, run);
  const std::uint64_t bytes = view.info().elements * size_of(view.info().format.type);
  std::optional<LabelTotals> result;
  while_unchanged(view, communicator, [&] {
    std::optional<LabelJob> job;
    StageRegistry& registry = run.monitor.stages();
    run_on_all(communicator, [&] { job.emplace(plan.tiling, view, labels, needs, registry); });
    append(stages, run_pass({plan.mine, plan.slots, bytes}, run.monitor, communicator,
                            [&](PassThread& thread) {
                              return std::make_unique<LabelConsumer>(*job, thread);
                            }));
    StageTimer combining(registry, stage::combine);
    combining.time(0, [&] {
      combine(job->totals, communicator);
      run_on_root(communicator, [&] { job->totals = job->totals.sorted(); });
    });
    append(stages, {combining.timing()});
    result = std::move(job->totals);
  });
  return std::move(*result);
}

}  // namespace warpfold::pipeline
