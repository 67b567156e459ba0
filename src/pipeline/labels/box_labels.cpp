#include "pipeline/labels/box_labels.hpp"

#include "core/values/ordered_key.hpp"

namespace warpfold::pipeline {
namespace {

/// Returns the part of a box along its last dimensions, those that labels have.
std::vector<std::uint64_t> last(std::span<const std::uint64_t> of_box, std::size_t dimensions) {
  const auto part = of_box.last(dimensions);
  return {part.begin(), part.end()};
}

}  // namespace

BoxLabels::StoredLabels::StoredLabels(LabelJob& job)
    : staging(
          job.label_elements->bytes_of_box(last(job.boxes.box_extents(), job.labels.shape.size()))),
      reader(*job.label_elements),
      decoder(cpu::make_label_decoder(job.labels.dataset->info().format, job.labels.decoding)) {}

BoxLabels::BoxLabels(LabelJob& job, StageTimer& numbering) : job_(job), numbering_(numbering) {
  if (job.label_elements) stored_labels_.emplace(job);
}

bool BoxLabels::number(const Hyperslab& box) {
  const std::size_t dimensions = job_.labels.shape.size();
  const Hyperslab labels{last(box.start, dimensions), last(box.count, dimensions)};
  if (numbered_ == labels) return false;
  places_.resize(labels.elements());
  if (stored_labels_)
    number_stored_labels(labels);
  else
    numbering_.time(0, [&] { number_labels_in_memory(labels); });
  numbered_ = labels;
  return true;
}

void BoxLabels::restart() {
  numbers_ = {};
  numbered_.reset();
}

std::vector<StageTiming> BoxLabels::timings() const {
  return stored_labels_ ? stored_labels_->reader.timings() : std::vector<StageTiming>{};
}

void BoxLabels::number_stored_labels(const Hyperslab& box) {
  StoredLabels& labels = *stored_labels_;
  const StagedChunks slab =
      labels.reader.read(box, row_major_strides(box.count), labels.staging.span());
  numbering_.time(0,
                  [&] { labels.decoder(slab, labels.staging.span().data(), numbers_, places_); });
}

void BoxLabels::number_labels_in_memory(const Hyperslab& box) {
  for_each_run(box, job_.labels.shape,
               [&](std::uint64_t place, std::uint64_t index, std::uint64_t n) {
                 for (std::uint64_t i = 0; i < n; ++i) {
                   const std::uint32_t number = job_.labels.numbers[index + i];
                   places_[place + i] = number == no_label ? number : numbers_(ordered_key(number));
                 }
               });
}

}  // namespace warpfold::pipeline
