#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "io/dataset.hpp"
#include "io/output.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// What a scan's supersteps need beside the engine. In superstep s, rank r of P has block s*P + r.
struct ScanJob {
  io::Dataset& dataset;
  ScanEngine& engine;
  io::ContiguousWriter& writer;
  ScanSpec spec;
  std::uint64_t slab_elements;   ///< of one piece read or written: a multiple of a tile
  std::uint64_t block_elements;  ///< the same on every rank: a multiple of a tile
};

struct ScanOutcome {
  std::uint64_t last_bits;  ///< value_bits() of the output's last element, on every rank
  std::vector<StageTiming> stages;
};

/// Reads, scans and writes all blocks of this rank, at least one in all. Collective; throws the
/// same Error on every rank.
ScanOutcome scan_blocks(const ScanJob& job, const RunOptions& options,
                        const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
