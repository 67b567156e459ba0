#include <mutex>

#include "core/engine/stage_timer.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/axis_reducer.hpp"
#include "pipeline/labels/box_labels.hpp"
#include "pipeline/labels/label_job.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// Takes boxes.
class CoreLabelConsumer final : public Consumer {
 public:
  CoreLabelConsumer(LabelJob& job, PassThread& thread)
      : job_(job),
        thread_(thread),
        element_bytes_(size_of(job.view.info().format.type)),
        staging_(staging_bytes(job.boxes, job.elements)),
        reader_(job.elements),
        reducer_(cpu::make_axis_reducer(cpu::choose_kernels(), job.view.info().format,
                                        job.view.decoding, job.needs)),
        reducing_(thread.stages, job.core_stage()),
        combining_(thread.stages, stage::combine),
        labels_(job, reducing_) {
    reducer_->begin(0);
  }

  void take(const PassItem& item) override {
    const std::uint64_t tile = job_.boxes.tile(item.number);
    const ElementRange boxes = job_.boxes.boxes(item.number);
    for (std::uint64_t box = boxes.first; box < boxes.end() && !thread_.stop.stop_requested();
         ++box)
      reduce(job_.boxes.box(tile, box));
    if (labels_.numbers().size() >= max_labels_of_thread) finish();
  }

  /// Adds what this thread has to the rank's totals.
  void finish() override {
    const AxisParts parts = reducing_.time(0, [&] { return reducer_->finish(); });
    combining_.time(0, [&] {
      const std::lock_guard lock(job_.mutex);
      job_.totals.merge(labels_.numbers().labels(), parts);
    });
    reducer_->begin(0);
    labels_.restart();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    add_up(stages, labels_.timings());
    append(stages, {reducing_.timing(), combining_.timing()});
    return stages;
  }

 private:
  void reduce(const Hyperslab& box) {
    if (labels_.number(box)) reducer_->label(labels_.places(), labels_.numbers().size());
    const std::uint64_t bytes = box.elements() * element_bytes_;
    const StagedChunks slab = reader_.read(box, row_major_strides(box.count), staging_.span());
    reducing_.time(bytes, [&] { reducer_->reduce(slab, staging_.span().data()); });
    thread_.done += bytes;
  }

  LabelJob& job_;
  PassThread& thread_;
  std::size_t element_bytes_;
  cpu::PageBuffer staging_;
  RegionReader reader_;
  std::unique_ptr<cpu::LabelReducer> reducer_;
  StageTimer reducing_;
  StageTimer combining_;
  BoxLabels labels_;
};

}  // namespace

std::unique_ptr<Consumer> make_core_label_consumer(LabelJob& job, PassThread& thread) {
  return std::make_unique<CoreLabelConsumer>(job, thread);
}

}  // namespace warpfold::pipeline
