#pragma once

#include <cstdint>
#include <string>

#include "core/layout/staged_chunks.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Returns what held a run up, and what would help, in one line: "reading, busy 96% of the time:
/// more threads ...". Empty where no stage was timed.
std::string measured_bottleneck(const RunReport& run);

/// Returns how many chunks cores decompress while a GPU decompresses one: of fewer it is none of
/// its business.
std::uint64_t chunks_of_cores_meanwhile(const CompressedForm& form, std::uint64_t cores);

/// Seconds that a core takes to decompress a chunk, and a GPU to decompress any number at once.
struct ChunkSeconds {
  double of_core;
  double of_gpu;
};

/// Returns what chunks of a form are expected to take.
ChunkSeconds expected_chunk_seconds(const CompressedForm& form);

/// Returns whether one of `ranks` ranks has so many compressed chunks of a dataset.
bool has_many_compressed(const io::DatasetInfo& info, int threads, int ranks);

/// Returns whether one of `ranks` ranks is likely to be done with a reduction on its cores sooner
/// than a GPU has started and is done with it, by the same rates as expected_bottleneck(); or with
/// so many quantiles along axes, if any, by the rates at which cores and GPUs gather elements and
/// compare keys.
bool cores_are_sooner(const io::DatasetInfo& info, int threads, int ranks,
                      std::uint64_t line_quantiles = 0);

/// Returns what is likely to hold a reduction up on one of `ranks` ranks, of such rates as were
/// measured on current hardware with a file in the page cache: "decompressing, about 4.4 GB/s a
/// rank: ...". Empty for a dataset without elements.
std::string expected_bottleneck(const io::DatasetInfo& info, int threads, int ranks, bool gpu);

}  // namespace warpfold::pipeline
