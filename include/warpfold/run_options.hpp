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

/// Selects where to compute. `automatic` takes the GPU, with cores where that helps, unless cores
/// alone are expected to be faster.
enum class BackendChoice : std::uint8_t { automatic, cuda, cpu };

/// Run options specify how to run, without influence on any result.
struct RunOptions {
  BackendChoice backend = BackendChoice::automatic;  ///< an Error if it is not available
  /// The threads of this rank, to read, to undo filters and, on the cpu backend, to compute; 0:
  /// chosen from this rank's share of the cores.
  int threads = 0;
  std::uint64_t slab_bytes = 0;              ///< bytes of one buffer, 4 KiB to 1 GiB; 0: automatic
  ReadPath read_path = ReadPath::automatic;  ///< an Error where a dataset can't be read that way
  FileCache file_cache = FileCache::automatic;  ///< whether to read through the system's
  /// Which files that a file names may be read; others are refused by an Error. While runs of one
  /// process overlap, the strictest of their rules holds for all of them.
  ExternalFiles external = ExternalFiles::any;
  std::optional<std::uint64_t> device_memory_bytes;  ///< at most; default: 80% of what is free
  bool share_gpu = false;                            ///< allow several ranks on one GPU

  ProgressCallback progress;                         ///< empty: none; may differ between ranks
  std::chrono::milliseconds progress_interval{200};  ///< between its calls
  /// Set (by a signal handler, say) to make all ranks stop with an Error at the next slab.
  const std::atomic<bool>* interrupted = nullptr;
};

/// A run's report states what ran, and how: filled on rank 0 alone.
struct RunReport {
  int ranks = 1;                     ///< size of the communicator
  int hosts = 1;                     ///< that these run on
  std::string backend;               ///< "cpu", "cuda", or "cpu+cuda" where both worked
  std::vector<std::string> devices;  ///< devices by rank
  std::string fallback;      ///< why an automatic choice took the cpu where a GPU is, or empty
  std::string binding_note;  ///< how the cores that ranks are bound to slow it, or empty
  /// Peculiarities of the data that affect how results are read; one sentence each.
  std::vector<std::string> notes;
  double seconds = 0;               ///< wall time of the whole run
  std::vector<StageTiming> stages;  ///< in the order that data take
};

}  // namespace warpfold
