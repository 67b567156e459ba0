#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace warpfold::cli {

enum class ProgressWhen : std::uint8_t { automatic, always, never };

/// "reduce [#####     ] 50%  1.00 GiB of 2.00 GiB  2.15 GB/s  1 s left" after `seconds`.
std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          double seconds);

/// A line on standard error that tells how far a run is; removed at its end.
class ProgressBar {
 public:
  /// Partitions are as good as equal: what one rank reports stands for all `ranks`.
  ProgressBar(std::string label, ProgressWhen when, int ranks);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Whether it may ever show anything.
  bool wanted() const { return wanted_; }

  /// Bytes of one rank.
  void update(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  bool terminal_;
  bool wanted_;
  std::uint64_t ranks_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace warpfold::cli
