#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/scan/scan_spec.hpp"
#include "io/output/output.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/scan/block_pipeline.hpp"
#include "pipeline/scan/chunked_prefixes.hpp"

namespace warpfold::pipeline {

/// State shared by a scan's supersteps. All ranks have equally many blocks, one in each superstep.
struct ScanJob {
  const BlockJob& blocks;
  ScanEngine& engine;                   ///< theirs
  io::ContiguousWriter* writer;         ///< writes a contiguous output
  std::optional<ChunkedBlocks> chunks;  ///< in place of a writer
  const ScanSpec& spec;
  std::uint64_t elements;  ///< elements of the dataset
};

struct ScanOutcome {
  std::uint64_t last_bits;  ///< value_bits() of the output's last element, on every rank
  std::vector<StageTiming> stages;
};

/// Reads, scans and writes all blocks of this rank, at least one in all. Collective; throws the
/// same Error on every rank.
ScanOutcome scan_blocks(const ScanJob& job, ProgressMonitor& monitor,
                        const mpi::Communicator& communicator);

/// Throws an Error that says which prefix is beyond the output type.
[[noreturn]] void throw_overflow(std::uint64_t index, const ScanSpec& spec);

/// Throws on every rank where any has an index to pass, in place of no_index: of the lowest.
/// Collective.
void throw_overflow_on_all_ranks(std::uint64_t mine, const ScanSpec& spec,
                                 const mpi::Communicator& communicator);

/// Returns the value_bits() of an element in memory.
std::uint64_t bits_of(std::span<const std::byte> element, ElementType type);

}  // namespace warpfold::pipeline
