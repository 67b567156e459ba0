#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace warpfold::io {

/// Finds by the first reads whether those past the operating system's cache are faster than those
/// through it. Threads share one.
class CacheTrial {
 public:
  /// Decides what the next read is to do: the trial's two ways in turn, then the faster.
  bool next_goes_past();

  /// Takes note of what a read took.
  void record(bool past, std::uint64_t bytes, double seconds);

 private:
  struct Way {
    int reads = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;

    double rate() const { return static_cast<double>(bytes) / seconds; }
  };

  enum class Verdict { open, through, past };

  std::atomic<Verdict> verdict_ = Verdict::open;
  std::atomic<unsigned> turn_ = 0;
  std::mutex mutex_;
  Way through_;
  Way past_;
};

/// Returns whether most of `bytes` bytes from `first` on of a file are in the operating system's
/// cache, judged by pages here and there. True also where the file system does not tell.
bool is_mostly_cached(const std::string& path, std::uint64_t first, std::uint64_t bytes);

}  // namespace warpfold::io
