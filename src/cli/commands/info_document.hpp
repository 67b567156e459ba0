#pragma once

#include "cli/report/json_writer.hpp"
#include "cli/run/watched_run.hpp"

namespace warpfold::cli {

/// Returns what the command line of the session, `warpfold info ...`, would write with `--json`, on
/// rank 0. Collective. Throws Error.
Json info_document(const Session& session);

}  // namespace warpfold::cli
