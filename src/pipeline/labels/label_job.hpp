#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/engine/stream_engines.hpp"
#include "core/results/label_numbers.hpp"
#include "core/results/label_totals.hpp"
#include "pipeline/datasets/dataset_labels.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/work_tiling.hpp"
#include "pipeline/run/made_once.hpp"
#include "pipeline/run/pass.hpp"

namespace warpfold::pipeline {

/// A thread hands over what it has of so many labels, so that its memory stays within bounds: some
/// 300 MB. To hand over costs more than to reduce as many elements.
inline constexpr std::uint64_t max_labels_of_thread = std::uint64_t{1} << 20;

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

  const char* core_stage() const { return engine ? stage::reduce_on_cores : stage::reduce; }

  const WorkTiling& boxes;
  const DatasetView& view;
  const DatasetLabels& labels;
  ReduceNeeds needs;
  RegionSource elements;
  std::optional<RegionSource> label_elements;  ///< labels that are not in memory
  std::mutex mutex;
  LabelTotals totals;
  MadeOnce<LabelEngine> engine = {};     ///< made in the pass; null: cores reduce
  LabelNumbers engine_numbers = {};      ///< numbers of labels in the engine's outputs
  std::atomic<bool> cores_used = false;  ///< whether cores reduced what the engine didn't take
};

/// Makes one thread's work on boxes: all by cores; or by the engine, where it has room for all
/// labels of a box, by cores where not.
std::unique_ptr<Consumer> make_core_label_consumer(LabelJob& job, PassThread& thread);
std::unique_ptr<Consumer> make_engine_label_consumer(LabelJob& job, PassThread& thread);

}  // namespace warpfold::pipeline
