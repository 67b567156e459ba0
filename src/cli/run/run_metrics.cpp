#include "cli/run/run_metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace warpfold::cli {
namespace {

using std::chrono::milliseconds;

const char* name_of(RunState state) {
  constexpr const char* names[] = {"running", "done", "failed", "interrupted"};
  return names[static_cast<std::size_t>(state)];
}

/// Writes a time as "2026-11-21T22:31:52.123Z".
std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto since_epoch =
      std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since_epoch / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     since_epoch % 1000);
}

/// Rounds to millionths, which is more than is known.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

Json rounded(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(); }

Json stages_json(const std::vector<StageRate>& stages) {
  Json all = Json::array();
  for (const StageRate& each : stages)
    all.push_back({{"stage", each.stage},
                   {"threads", each.threads},
                   {"busy", rounded(each.busy)},
                   {"GB/s", rounded(each.gigabytes_per_second)},
                   {"bytes", each.bytes}});
  return all;
}

}  // namespace

Json metrics_json(const RunSubject& subject, const MetricsSample& sample) {
  const RunProgress& progress = sample.progress;
  const bool started = progress.pass > 0;
  const bool over = sample.state != RunState::running;
  Json line;
  line["schema"] = "warpfold.metrics/1";
  line["time"] = utc_text(sample.time);
  line["elapsed_seconds"] = rounded(sample.elapsed);
  line["state"] = name_of(sample.state);
  if (!sample.error.empty()) line["error"] = sample.error;
  line["command"] = subject.command;
  line["file"] = subject.file;
  line["dataset"] = progress.dataset.empty() ? subject.dataset : progress.dataset;
  line["dataset_number"] = progress.number;
  line["datasets"] = progress.datasets;
  line["pass"] = progress.pass;
  line["ranks"] = sample.ranks;
  line["done_bytes"] = started ? Json(progress.done) : Json(0);
  line["total_bytes"] = started ? Json(progress.total) : Json();
  line["GB/s"] = rounded(sample.lately.gigabytes_per_second);
  line["mean_GB/s"] = rounded(gigabytes_per_second(progress));
  line["eta_seconds"] = over ? Json() : rounded(seconds_left(progress));
  line["rank0_stages"] = stages_json(sample.lately.stages);
  return line;
}

void RunMetrics::start(RunSubject subject) {
  subject_ = std::move(subject);
  append(RunState::running, "", {}, {});
}

void RunMetrics::tell(const RunProgress& progress, const RunRates& lately) {
  append(RunState::running, "", progress, lately);
  last_ = progress;
}

void RunMetrics::end(RunState state, const std::string& error) {
  if (std::exchange(ended_, true)) return;
  append(state, error, last_, rates_between({}, last_));
}

void RunMetrics::append(RunState state, const std::string& error, const RunProgress& progress,
                        const RunRates& lately) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const MetricsSample sample{
      std::chrono::system_clock::now(), elapsed, state, error, ranks_, progress, lately};
  log_.append(metrics_json(subject_, sample).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace warpfold::cli
