#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/core/read_path.hpp"

namespace warpfold {

enum class BackendChoice : std::uint8_t { automatic, cuda, cpu };

/// Bytes of its share that this rank is done with, and all it has; called every few milliseconds by
/// one thread at a time.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// How to run, without influence on any result.
struct RunOptions {
  BackendChoice backend = BackendChoice::automatic;
  /// Of this rank, to read, to undo filters and, on the cpu backend, to compute; 0: chosen from
  /// this rank's share of the cores.
  int threads = 0;
  std::uint64_t slab_bytes = 0;  ///< of one buffer, 4 KiB to 1 GiB; 0: chosen
  ReadPath read_path = ReadPath::automatic;
  FileCache file_cache = FileCache::automatic;
  std::optional<std::uint64_t> device_memory_bytes;
  bool share_gpu = false;  ///< allow several ranks on one GPU

  ProgressCallback progress;
  /// Set (by a signal handler, say) to make all ranks leave with an Error at the next slab.
  const std::atomic<bool>* interrupted = nullptr;
};

/// One stage of a run, of the rank whose threads were busiest in it. bytes / seconds is the rate at
/// which the stage would run if it never had to wait for another.
struct StageTiming {
  std::string stage;
  int threads = 1;          ///< working in it; a GPU counts as one
  double seconds = 0;       ///< busy, on average over the threads
  double waiting = 0;       ///< for other stages, on average over the threads
  std::uint64_t bytes = 0;  ///< taken through it, by all threads
};

/// What ran, and how: filled on rank 0 alone.
struct RunReport {
  int ranks = 1;
  int hosts = 1;
  std::string backend;               ///< "cpu", "cuda", or "cpu+cuda" where ranks differ
  std::vector<std::string> devices;  ///< by rank
  std::string fallback;              ///< why an automatic choice took the cpu, or empty
  std::string binding_note;          ///< how the cores that ranks are bound to slow it, or empty
  double seconds = 0;
  std::vector<StageTiming> stages;
};

}  // namespace warpfold
