#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpfold {

enum class BackendChoice : std::uint8_t { automatic, cuda, cpu };

/// Bytes of its partition this rank is done with, and all it has; called once a slab, by one thread
/// at a time.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// How to run, without influence on any result.
struct RunOptions {
  BackendChoice backend = BackendChoice::automatic;
  int threads = 0;                       ///< of the cpu backend; 0: this rank's share of cores
  std::uint64_t slab_bytes = 16u << 20;  ///< of one buffer; at most 1 GiB
  std::optional<std::uint64_t> device_memory_bytes;
  bool share_gpu = false;  ///< allow several ranks on one GPU

  ProgressCallback progress;
  /// Set (by a signal handler, say) to make all ranks leave with an Error at the next slab.
  const std::atomic<bool>* interrupted = nullptr;
};

/// One stage of a run. `seconds` is the busiest rank's time inside the stage, `bytes` the largest
/// number of bytes a rank took through it.
struct StageTiming {
  std::string stage;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// What ran, and how: filled on rank 0 alone.
struct RunReport {
  int ranks = 1;
  int hosts = 1;
  std::string backend;               ///< "cpu", "cuda", or "cpu+cuda" where ranks differ
  std::vector<std::string> devices;  ///< by rank
  std::string fallback;              ///< why an automatic choice took the cpu, or empty
  double seconds = 0;
  std::vector<StageTiming> stages;
};

}  // namespace warpfold
