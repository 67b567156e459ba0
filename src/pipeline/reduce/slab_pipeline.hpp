#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/gpu_share.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// A rank ready to pass its share of a dataset's slabs to an engine, in the thread that made it and
/// those that this one starts.
struct SlabSetup {
  WorkPlan plan;
  std::unique_ptr<cpu::ThreadBinding> binding;  ///< near the GPU
  std::unique_ptr<RegionSource> source;
  std::unique_ptr<StreamEngine> engine;
  std::unique_ptr<GpuShare> gpu;   ///< that has slabs beside the engine of cores, if one has
  std::uint64_t piece_chunks = 0;  ///< that a core takes at a time beside a GPU
  bool has_mine = false;           ///< slabs are this rank's whoever reads them

  /// Makes an engine for one element; null where slabs that were never written are reduced as
  /// others are, since a mask selects some of their elements.
  std::function<std::unique_ptr<StreamEngine>()> make_for_one;
};

/// Makes the engine for slabs as planned. Throws Error. Threads may call it at once.
using EngineMaker =
    std::function<std::unique_ptr<StreamEngine>(Backend& backend, const StagingPlan& plan)>;

/// Divides the dataset into slabs that every rank's engine can hold. If not even one of its chunks
/// fits, reopens it to read it through the HDF5 library. Calls `make`, which is kept,
/// once or more; the last engine is the setup's. This rank's slabs are its share of them. With
/// `mine` they are all slabs with elements at these flat indices. Collective; throws the same Error
/// on every rank.
SlabSetup set_up_slabs(DatasetView& view, const EngineMaker& make, Run& run,
                       const std::optional<ElementRange>& mine = {});

/// Takes the result of an engine, which counts `times` times.
using ResultTaker = std::function<void(StreamEngine& engine, std::uint64_t times)>;

/// Reads this rank's slabs, passes them to its engines and calls `take` for each of these once all
/// slabs are read. An engine of its own reduces one element for all slabs that were never written.
/// Returns the stages' times. Collective; throws the same Error on every rank, soon after the first
/// one fails.
std::vector<StageTiming> pass_slabs(const SlabSetup& setup, const ResultTaker& take,
                                    const io::DatasetInfo& info, Run& run);

}  // namespace warpfold::pipeline
