#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/core/read_path.hpp"
#include "warpfold/core/stage_timing.hpp"
#include "warpfold/run_progress.hpp"

namespace warpfold {

/// Place of computation. `automatic` uses the GPU, with cores if that helps, unless cores alone are
/// expected to be faster.
enum class BackendChoice : std::uint8_t { automatic, cuda, cpu };

/// Options of a run that do not change its results.
struct RunOptions {
  BackendChoice backend = BackendChoice::automatic;  ///< an Error if not available
  /// Threads of this rank, which read, undo filters and, on the cpu backend, compute. 0: chosen
  /// from the rank's share of the cores.
  int threads = 0;
  std::uint64_t slab_bytes = 0;              ///< bytes of one buffer, 4 KiB to 1 GiB; 0: automatic
  ReadPath read_path = ReadPath::automatic;  ///< an Error if the dataset doesn't allow it
  FileCache file_cache = FileCache::automatic;  ///< the system's file cache
  /// Files named by a file that may be read; others are an Error. If runs of one process overlap,
  /// the strictest of their rules holds for all of them.
  ExternalFiles external = ExternalFiles::any;
  std::optional<std::uint64_t> device_memory_bytes;  ///< limit; default: 80% of the free memory
  bool share_gpu = false;                            ///< allow several ranks on one GPU

  ProgressCallback progress;                         ///< may differ between ranks; empty: none
  std::chrono::milliseconds progress_interval{200};  ///< time between two calls of `progress`
  /// Flag that makes all ranks stop with an Error at the next slab, such as a signal handler sets.
  const std::atomic<bool>* interrupted = nullptr;
};

/// Report on a run, on rank 0 alone.
struct RunReport {
  int ranks = 1;                     ///< size of the communicator
  int hosts = 1;                     ///< number of hosts
  std::string backend;               ///< "cpu", "cuda", or "cpu+cuda" where both worked
  std::vector<std::string> devices;  ///< devices by rank
  std::string fallback;              ///< why an automatic choice did not use a GPU, or empty
  std::string binding_note;          ///< how the binding of ranks to cores slows the run, or empty
  /// Properties of the data that a reader of the results should know; one sentence each.
  std::vector<std::string> notes;
  double seconds = 0;               ///< wall time of the whole run
  std::vector<StageTiming> stages;  ///< in the order of the data flow
};

}  // namespace warpfold
