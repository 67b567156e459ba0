#include "cli/run/stage_rates.hpp"

#include <algorithm>

namespace warpfold::cli {
namespace {

constexpr double giga = 1e9;

StageProgress stage_in(const RunProgress& progress, const std::string& stage) {
  const auto found = std::ranges::find(progress.stages, stage, &StageProgress::stage);
  return found == progress.stages.end() ? StageProgress{} : *found;
}

StageRate rate_between(const StageProgress& before, const StageProgress& now, double seconds) {
  StageRate rate{now.stage, now.threads, 0, {}, now.bytes};
  const double busy = (now.busy - before.busy) / std::max(1, now.threads);
  if (busy <= 0 || seconds <= 0) return rate;
  rate.busy = std::min(1.0, busy / seconds);
  if (now.bytes > 0)
    rate.gigabytes_per_second = static_cast<double>(now.bytes - before.bytes) / busy / giga;
  return rate;
}

bool same_pass(const RunProgress& a, const RunProgress& b) {
  return a.number == b.number && a.pass == b.pass;
}

}  // namespace

RunRates rates_between(const RunProgress& before, const RunProgress& now) {
  RunRates rates;
  const double seconds = now.seconds - before.seconds;
  if (same_pass(before, now)) {
    if (seconds > 0)
      rates.gigabytes_per_second = static_cast<double>(now.done - before.done) / seconds / giga;
  } else {
    rates.gigabytes_per_second = gigabytes_per_second(now);
  }
  for (const StageProgress& stage : now.stages) {
    const StageProgress earlier = stage_in(before, stage.stage);
    if (stage.running || stage.busy > earlier.busy)
      rates.stages.push_back(rate_between(earlier, stage, seconds));
  }
  return rates;
}

double gigabytes_per_second(const RunProgress& progress) {
  if (progress.pass_seconds <= 0) return 0;
  return static_cast<double>(progress.done) / progress.pass_seconds / giga;
}

std::optional<double> seconds_left(const RunProgress& progress) {
  if (progress.pass == 0) return std::nullopt;
  if (progress.done >= progress.total) return 0.0;
  const double rate = gigabytes_per_second(progress) * giga;
  if (rate <= 0) return std::nullopt;
  return static_cast<double>(progress.total - progress.done) / rate;
}

}  // namespace warpfold::cli
