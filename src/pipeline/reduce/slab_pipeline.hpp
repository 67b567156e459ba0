#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/backend.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Makes the engine for slabs as planned. Throws Error. Threads may call it at once.
using EngineMaker =
    std::function<std::unique_ptr<StreamEngine>(Backend& backend, const StagingPlan& plan)>;

/// Takes the result of an engine, which counts `times` times.
using ResultTaker = std::function<void(StreamEngine& engine, std::uint64_t times)>;

/// Divides the dataset into slabs, passes this rank's share of them to engines, and calls `take`
/// for each of these once all slabs are read. With `mine` the rank has all slabs with elements at
/// these flat indices. An engine of its own reduces one element for all slabs that were never
/// written.
///
/// A rank begins as soon as its engine is made; others of its host take its slabs meanwhile. Where
/// an engine holds less than a slab, all ranks begin again with smaller ones; where not even a
/// chunk fits, they reopen the dataset to read it through the HDF5 library. Returns the stages'
/// times. Collective; throws the same Error on every rank, soon after the first one fails.
std::vector<StageTiming> pass_slabs(DatasetView& view, const EngineMaker& make,
                                    const ResultTaker& take, Run& run,
                                    const std::optional<ElementRange>& mine = {});

}  // namespace warpfold::pipeline
