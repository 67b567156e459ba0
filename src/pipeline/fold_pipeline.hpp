#pragma once

#include <memory>
#include <vector>

#include "core/backend.hpp"
#include "cpu/thread_binding.hpp"
#include "io/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/backend_choice.hpp"
#include "pipeline/slab_cut.hpp"
#include "pipeline/slab_source.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// A rank ready to fold its share of a dataset's slabs, in the thread that made it and those that
/// this one starts.
struct FoldSetup {
  SlabCut cut;        ///< the same on every rank
  ElementRange mine;  ///< slabs, by number
  int threads = 1;
  std::unique_ptr<cpu::ThreadBinding> binding;  ///< near the GPU
  std::unique_ptr<SlabSource> source;
  std::unique_ptr<FoldEngine> engine;
};

/// Cuts the dataset into slabs that every rank's engine can hold. Opens it anew where not even one
/// of its chunks fits, to read it through the HDF5 library. Collective; throws the same Error on
/// every rank.
FoldSetup set_up_fold(io::Dataset& dataset, const FoldNeeds& needs, const BackendPlace& place,
                      StartingBackend& backend, const RunOptions& options,
                      const mpi::Communicator& communicator);

struct FoldOutcome {
  Accumulator accumulator;  ///< of this rank's slabs
  std::vector<StageTiming> stages;
};

/// Reads and folds this rank's slabs. Collective; throws the same Error on every rank, soon after
/// the first one fails.
FoldOutcome fold_slabs(const FoldSetup& setup, const io::DatasetInfo& info,
                       const RunOptions& options, const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
