#include <algorithm>
#include <mutex>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "pipeline/labels/box_labels.hpp"
#include "pipeline/labels/label_job.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// Takes boxes.
class EngineLabelConsumer final : public Consumer {
 public:
  EngineLabelConsumer(LabelJob& job, PassThread& thread)
      : job_(job),
        engine_(*job.engine),
        thread_(thread),
        element_bytes_(size_of(job.view.info().format.type)),
        reader_(job.elements,
                engine_.decompresses() ? io::Compressed::left : io::Compressed::undone),
        numbering_(thread.stages, job.core_stage()),
        labels_(job, numbering_) {}

  void take(const PassItem& item) override {
    const Hyperslab box = job_.boxes.box(0, item.number);
    label(box);
    has_room_ ? submit(box) : leave_to_cores(item);
    if (labels_.numbers().size() >= max_labels_of_thread) restart();
  }

  void finish() override {
    if (cores_) cores_->finish();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    add_up(stages, labels_.timings());
    append(stages, {numbering_.timing()});
    if (cores_) add_up(stages, cores_->timings());
    return stages;
  }

 private:
  /// Gives the engine the numbers of a box, if there is room for its labels.
  void label(const Hyperslab& box) {
    if (!labels_.number(box)) return;
    numbering_.time(0, [&] { map_new_labels(); });
    const std::span<const std::uint32_t> places = labels_.places();
    has_room_ = labels_in_outputs_ <= engine_.capacity() || all_have_room(places);
    if (!has_room_) return;
    const std::span<std::uint32_t> numbers = engine_.numbers(thread_.number, places.size());
    numbering_.time(0, [&] {
      std::ranges::transform(places, numbers.begin(), [&](std::uint32_t place) {
        return place == no_label ? no_label : outputs_[place];
      });
    });
    engine_.label(thread_.number, std::min(labels_in_outputs_, engine_.capacity()));
  }

  /// Finds the outputs of labels that this thread has met meanwhile.
  void map_new_labels() {
    const std::span<const std::uint64_t> labels = labels_.numbers().labels();
    if (outputs_.size() == labels.size()) return;
    const std::lock_guard lock(job_.mutex);
    for (const std::uint64_t label : labels.subspan(outputs_.size())) {
      outputs_.push_back(job_.engine_numbers(label));
      labels_in_outputs_ = std::max(labels_in_outputs_, std::uint64_t{outputs_.back()} + 1);
    }
  }

  bool all_have_room(std::span<const std::uint32_t> places) const {
    return std::ranges::all_of(places, [&](std::uint32_t place) {
      return place == no_label || outputs_[place] < engine_.capacity();
    });
  }

  void submit(const Hyperslab& box) {
    const std::uint64_t bytes = box.elements() * element_bytes_;
    const Ticket ticket = engine_.take(thread_.number);
    engine_.submit(ticket, reader_.read(box, row_major_strides(box.count), ticket.memory));
    thread_.done += bytes;
  }

  void leave_to_cores(const PassItem& item) {
    if (!cores_) cores_ = make_core_label_consumer(job_, thread_);
    job_.cores_used = true;
    cores_->take(item);
  }

  /// Forgets this thread's numbers. Those of the engine's outputs stay.
  void restart() {
    labels_.restart();
    outputs_.clear();
    labels_in_outputs_ = 0;
  }

  LabelJob& job_;
  LabelEngine& engine_;
  PassThread& thread_;
  std::size_t element_bytes_;
  RegionReader reader_;
  StageTimer numbering_;
  BoxLabels labels_;
  std::vector<std::uint32_t> outputs_;   ///< outputs by this thread's numbers
  std::uint64_t labels_in_outputs_ = 0;  ///< all of `outputs_` are below
  bool has_room_ = false;                ///< whether the engine has, for the last box's labels
  std::unique_ptr<Consumer> cores_;      ///< once a box needs them
};

}  // namespace

std::unique_ptr<Consumer> make_engine_label_consumer(LabelJob& job, PassThread& thread) {
  return std::make_unique<EngineLabelConsumer>(job, thread);
}

}  // namespace warpfold::pipeline
