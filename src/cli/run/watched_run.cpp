#include "cli/run/watched_run.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "cli/report/text.hpp"
#include "cli/run/interruption.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

std::filesystem::path absolute_path(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path absolute =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), failure);
  return failure ? std::filesystem::path(path) : absolute;
}

/// Returns whether two paths are one file, also by two names.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code missing;
  return a == b || std::filesystem::equivalent(a, b, missing);
}

/// Lists the options whose reports go to standard output.
std::vector<std::string> targets_on_output(const CommonOptions& options) {
  std::vector<std::string> names;
  if (options.json == standard_output) names.emplace_back("--json");
  if (options.csv == standard_output) names.emplace_back("--csv");
  if (options.metrics == standard_output) names.emplace_back("--metrics");
  return names;
}

void require_one_on_output(const CommonOptions& options) {
  const std::vector<std::string> names = targets_on_output(options);
  if (names.size() > 1)
    throw usage_error(names[0] + " and " + names[1] + " cannot both go to standard output", "",
                      "Give one of them a file name.");
}

std::vector<std::filesystem::path> paths_of(const UsedFiles& used) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : {used.input, used.output})
    if (!file.empty()) paths.push_back(absolute_path(file));
  return paths;
}

/// Returns whether a report would replace a file that the input's datasets, or those beside it,
/// rest on.
bool replaces_source(const std::filesystem::path& report, const UsedFiles& used) {
  std::error_code missing;
  if (used.input.empty() || !std::filesystem::is_regular_file(report, missing)) return false;
  std::set<std::string> files = pipeline::files_read(used.input, used.datasets);
  for (const std::string& file : used.files) files.merge(pipeline::files_read(file, used.datasets));
  for (const std::string& name : used.beside) {
    if (name.empty()) continue;
    const pipeline::NamedDataset named = pipeline::dataset_of(name, used.input);
    files.insert(named.file);
    files.merge(pipeline::files_read(named.file, {{named.dataset}}));
  }
  return std::ranges::any_of(
      files, [&](const std::string& file) { return same_file(report, absolute_path(file)); });
}

using namespace std::chrono_literals;

/// Period of rates and of metrics.
constexpr auto interval = 1s;

ProgressWhen progress_of(const Session& session, const CommonOptions& common) {
  const bool silenced = common.quiet && common.progress == ProgressWhen::automatic;
  return !session.is_root() || silenced ? ProgressWhen::never : common.progress;
}

}  // namespace

ReportOutputs::ReportOutputs(const Session& session, const CommonOptions& options, UsedFiles used)
    : session_(session), options_(options), used_(std::move(used)) {
  require_one_on_output(options);
  pipeline::run_on_root(mpi::Communicator(session.communicator), [this] { open(); });
}

void ReportOutputs::open() {
  std::vector<std::filesystem::path> taken = paths_of(used_);
  const auto open_one = [&](const std::string& target, auto&& make) {
    if (target.empty()) return;
    const std::filesystem::path path = absolute_path(target);
    const auto is_same = [&path](const auto& other) { return same_file(path, other); };
    const bool is_file = target != standard_output;
    if (is_file && (std::ranges::any_of(taken, is_same) || replaces_source(path, used_)))
      throw usage_error("the report would replace " + target, "this run has another use for it",
                        "Give the report a name of its own.");
    taken.push_back(path);
    make();
  };
  const std::atomic<bool>* interrupted = &interruption_requested();
  open_one(options_.json, [&] { json_.emplace(options_.json, interrupted); });
  open_one(options_.csv, [&] { csv_.emplace(options_.csv, interrupted); });
  open_one(options_.metrics,
           [&] { metrics_.emplace(options_.metrics, session_.ranks, interrupted); });
}

void ReportOutputs::publish(const std::function<Report()>& make) {
  try {
    pipeline::run_on_root(mpi::Communicator(session_.communicator), [&] { write(make()); });
  } catch (const std::exception& failure) {
    fail(failure);
    throw;
  }
  if (metrics_) metrics_->end(RunState::done, "");
}

void ReportOutputs::fail(const std::exception& failure) {
  if (!metrics_) return;
  metrics_->end(interruption_requested() ? RunState::interrupted : RunState::failed,
                with_flags(failure.what()));
}

void ReportOutputs::write(Report report) {
  if (!options_.quiet)
    for (const std::string& note : report.notes) print_remark("note: " + note);
  const bool report_on_output = !targets_on_output(options_).empty();
  if (json_) {
    report.json["arguments"] = session_.words;
    write_json(report.json, report.json_elements,
               [&](std::string_view part) { json_->append(part); });
    json_->write("");
  }
  if (csv_) csv_->write(csv_text(report.csv));
  if (!options_.quiet && !report_on_output) print(report.text);
  if (report.failure) throw *report.failure;
}

WatchedRun::WatchedRun(const RunSubject& subject, const Session& session,
                       const CommonOptions& common, ReportOutputs& outputs)
    : bar_(subject.command, progress_of(session, common)),
      outputs_(outputs),
      options_(common.run),
      next_(Clock::now() + interval) {
  options_.interrupted = &interruption_requested();
  RunMetrics* metrics = outputs.metrics();
  if (metrics != nullptr) metrics->start(subject);
  if (metrics == nullptr && !bar_.wanted()) return;
  options_.progress = [this](const RunProgress& now) { show(now); };
}

void WatchedRun::show(const RunProgress& now) {
  const bool due = Clock::now() >= next_;
  if (due) {
    next_ += interval;
    if (now.seconds < before_.seconds) before_ = {};  // another run of the same command
    lately_ = rates_between(before_, now);
    before_ = now;
  }
  bar_.update(now, lately_);
  RunMetrics* metrics = outputs_.metrics();
  if (metrics == nullptr) return;
  if (due)
    metrics->tell(now, lately_);
  else
    metrics->note(now);
}

}  // namespace warpfold::cli
