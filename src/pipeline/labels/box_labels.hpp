#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/label_decoder.hpp"
#include "pipeline/labels/label_job.hpp"
#include "pipeline/regions/region_reader.hpp"

namespace warpfold::pipeline {

/// One thread's numbers of the labels of boxes.
class BoxLabels {
 public:
  /// `numbering` takes the time. Borrows all.
  BoxLabels(LabelJob& job, StageTimer& numbering);

  /// Numbers the labels of a box of elements; returns false where they are the last box's, and
  /// numbered.
  bool number(const Hyperslab& box);

  const LabelNumbers& numbers() const { return numbers_; }

  /// Returns the numbers of the last box's places, or no_label: that of the element at place p is
  /// places()[p % places().size()].
  std::span<const std::uint32_t> places() const { return repeats_ ? repeated_ : places_; }

  /// Forgets all numbers.
  void restart();

  /// Returns the times of reading labels.
  std::vector<StageTiming> timings() const;

 private:
  /// Labels that are read.
  struct StoredLabels {
    explicit StoredLabels(LabelJob& job);

    cpu::PageBuffer staging;
    RegionReader reader;
    cpu::LabelDecoder decoder;
  };

  /// Numbers outputs of labels for each index along other dimensions; returns likewise.
  bool number_outputs(const Hyperslab& box);

  /// Returns what the indices of a box along these dimensions add to the number of an output.
  std::vector<std::uint64_t> output_offsets(const Hyperslab& box) const;

  /// Repeats the numbers of the labels of a box along those of its dimensions, from `first` on,
  /// that the labels lack.
  void repeat(const Hyperslab& box, std::size_t first);

  void number_stored_labels(const Hyperslab& box);
  void number_labels_in_memory(const Hyperslab& box);

  LabelJob& job_;
  const bool repeats_;
  StageTimer& numbering_;
  std::optional<StoredLabels> stored_labels_;
  LabelNumbers numbers_;
  std::optional<Hyperslab> numbered_;  ///< the labels that `places_` has
  std::vector<std::uint64_t> counts_;  ///< the extents of the box whose places these are
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> repeated_;  ///< in place of `places_`, where labels lack dimensions
};

}  // namespace warpfold::pipeline
