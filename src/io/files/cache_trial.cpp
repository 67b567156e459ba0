#include "io/files/cache_trial.hpp"

#include <algorithm>

namespace warpfold::io {
namespace {

constexpr int reads_a_way = 8;

/// What is read through the cache is there for the next run: past it must be worth that.
constexpr double worthwhile_gain = 1.1;

}  // namespace

bool CacheTrial::next_goes_past() {
  const Verdict verdict = verdict_;
  if (verdict == Verdict::open) return turn_++ % 2 == 1;
  return verdict == Verdict::past;
}

void CacheTrial::record(bool past, std::uint64_t bytes, double seconds) {
  if (verdict_ != Verdict::open) return;
  const std::lock_guard lock(mutex_);
  Way& way = past ? past_ : through_;
  ++way.reads;
  way.bytes += bytes;
  way.seconds += seconds;
  if (std::min(past_.reads, through_.reads) < reads_a_way) return;
  verdict_ = past_.rate() > worthwhile_gain * through_.rate() ? Verdict::past : Verdict::through;
}

}  // namespace warpfold::io
