#include "pipeline/labels/box_labels.hpp"

#include <algorithm>
#include <utility>

#include "core/values/ordered_key.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"

namespace warpfold::pipeline {
namespace {

std::vector<std::uint64_t> part_of_box(std::span<const std::uint64_t> of_box,
                                       const DatasetLabels& labels) {
  std::vector<std::uint64_t> part;
  for (const std::size_t d : labels.dimensions) part.push_back(of_box[d]);
  return part;
}

/// Returns whether labels lack a dimension behind the first that they have.
bool lack_later_dimensions(const LabelJob& job) {
  if (job.labels.outputs) return true;
  const std::vector<std::size_t>& dimensions = job.labels.dimensions;
  return !dimensions.empty() &&
         job.view.info().shape.size() - dimensions.front() > dimensions.size();
}

}  // namespace

BoxLabels::StoredLabels::StoredLabels(LabelJob& job)
    : staging(job.label_elements->bytes_of_box(part_of_box(job.boxes.box_extents(), job.labels))),
      reader(*job.label_elements),
      decoder(cpu::make_label_decoder(job.labels.dataset->info().format, job.labels.decoding)) {}

BoxLabels::BoxLabels(LabelJob& job, StageTimer& numbering)
    : job_(job), repeats_(lack_later_dimensions(job)), numbering_(numbering) {
  if (job.label_elements) stored_labels_.emplace(job);
}

bool BoxLabels::number(const Hyperslab& box) {
  if (job_.labels.outputs) return number_outputs(box);
  const Hyperslab labels{part_of_box(box.start, job_.labels), part_of_box(box.count, job_.labels)};
  if (numbered_ == labels && (!repeats_ || counts_ == box.count)) return false;
  places_.resize(labels.elements());
  if (stored_labels_)
    number_stored_labels(labels);
  else
    numbering_.time(0, [&] { number_labels_in_memory(labels); });
  numbered_ = labels;
  counts_ = box.count;
  if (repeats_) numbering_.time(0, [&] { repeat(box, job_.labels.dimensions.front()); });
  return true;
}

void BoxLabels::restart() {
  numbers_ = {};
  numbered_.reset();
}

std::vector<StageTiming> BoxLabels::timings() const {
  return stored_labels_ ? stored_labels_->reader.timings() : std::vector<StageTiming>{};
}

bool BoxLabels::number_outputs(const Hyperslab& box) {
  if (numbered_ == box) return false;
  const DatasetLabels& labels = job_.labels;
  const LabelOutputs& outputs = *labels.outputs;
  numbering_.time(0, [&] {
    const Hyperslab part{part_of_box(box.start, labels), part_of_box(box.count, labels)};
    places_.resize(part.elements());
    for_each_run(part, labels.shape,
                 [&](std::uint64_t place, std::uint64_t index, std::uint64_t n) {
                   std::copy_n(labels.numbers.begin() + static_cast<std::ptrdiff_t>(index), n,
                               places_.begin() + static_cast<std::ptrdiff_t>(place));
                 });
    repeat(box, 0);
    const std::vector<std::uint64_t> offsets = output_offsets(box);
    for_each_repeated(box.count, outputs.kept, {0, box.count.size()},
                      [&](std::uint64_t place, std::uint64_t index) {
                        std::uint32_t& number = repeated_[place];
                        if (number != no_label)
                          number = numbers_(offsets[index] + number * outputs.label_stride);
                      });
  });
  numbered_ = box;
  return true;
}

std::vector<std::uint64_t> BoxLabels::output_offsets(const Hyperslab& box) const {
  const LabelOutputs& outputs = *job_.labels.outputs;
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t k = 0; k < outputs.kept.size(); ++k) {
    const std::size_t d = outputs.kept[k];
    std::vector<std::uint64_t> next;
    next.reserve(offsets.size() * box.count[d]);
    for (const std::uint64_t offset : offsets)
      for (std::uint64_t i = 0; i < box.count[d]; ++i)
        next.push_back(offset + (box.start[d] + i) * outputs.strides[k]);
    offsets = std::move(next);
  }
  return offsets;
}

void BoxLabels::repeat(const Hyperslab& box, std::size_t first) {
  const DimensionRange range{first, box.count.size()};
  repeated_.resize(range.elements(box.count));
  for_each_repeated(
      box.count, job_.labels.dimensions, range,
      [&](std::uint64_t place, std::uint64_t index) { repeated_[place] = places_[index]; });
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
