#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/output/output.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// A scan's output. Scans write it contiguous; where chunks are asked for, commit() packs them from
/// what was written. Members are collective and throw the same Error on every rank; what is not
/// committed is removed.
class ScanOutput {
 public:
  /// `spec` counts on the root alone, but for its shape, format and storage.
  ScanOutput(const io::OutputSpec& spec, const mpi::Communicator& communicator);

  /// Where this rank writes; none if there are no elements.
  io::ContiguousWriter* writer() { return contiguous_.writer(); }

  /// Once all is written and synced. Packs by `threads` threads of this rank; returns their
  /// timings.
  std::vector<StageTiming> commit(ProgressMonitor& monitor, int threads);

 private:
  std::vector<StageTiming> pack(ProgressMonitor& monitor, int threads);

  const mpi::Communicator& communicator_;
  io::OutputSpec spec_;
  std::optional<StagedDataset> chunked_;
  StagedDataset contiguous_;
};

}  // namespace warpfold::pipeline
