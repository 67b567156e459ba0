#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/regions/chunk_elements.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

class StagedDataset;

/// A pack job is a staged dataset that is chunked, and where its elements come from.
struct PackJob {
  StagedDataset& staged;
  std::vector<std::uint64_t> shape;
  StorageOptions storage;  ///< with a chunk_shape
  std::size_t element_bytes = 1;
  std::function<ElementSource()> make_source;  ///< called by every thread for its own
  std::string source_stage;                    ///< for reports
  int threads = 1;                             ///< threads of this rank
};

/// Lets all ranks' threads make and compress the chunks; the root writes them, in the order of
/// their numbers whatever the ranks and threads. Collective; returns this rank's timings. Throws
/// the same Error on every rank.
std::vector<StageTiming> pack_chunks(const PackJob& job, ProgressMonitor& monitor,
                                     const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
