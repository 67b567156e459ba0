#include "cli/run/watched_run.hpp"

#include "cli/run/interruption.hpp"

namespace warpfold::cli {
namespace {

using namespace std::chrono_literals;

/// Rates are of so long, and metrics told as often.
constexpr auto interval = 1s;

ProgressWhen progress_of(const Session& session, const CommonOptions& common) {
  const bool silenced = common.quiet && common.progress == ProgressWhen::automatic;
  return !session.is_root() || silenced ? ProgressWhen::never : common.progress;
}

}  // namespace

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
