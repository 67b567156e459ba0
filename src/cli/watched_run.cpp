#include "cli/watched_run.hpp"

#include "cli/interruption.hpp"

namespace warpfold::cli {
namespace {

ProgressWhen progress_of(const Session& session, const CommonOptions& common) {
  const bool silenced = common.quiet && common.progress == ProgressWhen::automatic;
  return !session.is_root() || silenced ? ProgressWhen::never : common.progress;
}

}  // namespace

WatchedRun::WatchedRun(const std::string& label, const Session& session,
                       const CommonOptions& common)
    : progress_(label, progress_of(session, common), session.ranks), options_(common.run) {
  options_.interrupted = &interruption_requested();
  if (!progress_.wanted()) return;
  options_.progress = [this](std::uint64_t done, std::uint64_t total) {
    progress_.update(done, total);
  };
}

}  // namespace warpfold::cli
