#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/engine/stage_timer.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start);

/// The stages of an engine, each as one thread's; where it says nothing, it has worked in the
/// threads that called it, whose stages are `callers`.
std::vector<StageTiming> engine_stages(const std::vector<EngineTiming>& engine,
                                       const std::vector<StageTiming>& callers);

/// Where the callers of such an engine show their stage: nowhere if it shows its own. To be asked
/// before they begin.
template <class Engine>
StageRegistry* registry_of_callers(const Engine& engine, StageRegistry& registry) {
  return engine.timings().empty() ? &registry : nullptr;
}

void append(std::vector<StageTiming>& stages, const std::vector<StageTiming>& more);

/// The threads of one rank together, after `seconds` in which all of them ran: one timing for each
/// stage, in the order in which the stages first appear. What a stage wasn't busy, it waited.
std::vector<StageTiming> over_threads(const std::vector<StageTiming>& threads, double seconds);

/// Each stage's timing on the rank where its threads were busiest, on every rank; in the order in
/// which the stages first appear, ranks in order. Collective.
std::vector<StageTiming> busiest(const std::vector<StageTiming>& mine,
                                 const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
