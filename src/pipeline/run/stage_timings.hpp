#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/engine/stage_timer.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start);

/// Puts an engine's stages in place of `callers`, which the threads that called it timed; leaves
/// that where the engine says nothing, as it worked in those threads.
void put_engine_stages(std::vector<StageTiming>& stages, const std::string& callers,
                       const std::vector<StageTiming>& engine);

/// Returns where an engine's callers show their stage: nowhere if the engine shows its own. To be
/// asked before they begin.
StageRegistry* registry_of_callers(const Engine& engine, StageRegistry& registry);

/// Runs `sync` on every rank, which returns once this rank's output is on storage, and returns how
/// long that took. Collective; throws the same Error on every rank.
StageTiming sync_on_all_ranks(const std::function<void()>& sync, StageRegistry& registry,
                              const mpi::Communicator& communicator);

/// Puts the stages of a start before the others, MPI's first, but for those that took no time.
void put_start_stages(std::vector<StageTiming>& stages, std::vector<StageTiming> start);

void append(std::vector<StageTiming>& stages, const std::vector<StageTiming>& more);

/// Adds what the same threads took for stages, of which they may have some already.
void add_up(std::vector<StageTiming>& stages, const std::vector<StageTiming>& more);

/// Returns the threads of one rank together, after `seconds` in which all of them ran: one timing
/// for each stage, in the order in which the stages first appear. What a stage wasn't busy, it
/// waited.
std::vector<StageTiming> over_threads(const std::vector<StageTiming>& threads, double seconds);

/// Returns each stage's timing on the rank where its threads were busiest, on every rank; in the
/// order in which the stages first appear, ranks in order. Collective.
std::vector<StageTiming> busiest(const std::vector<StageTiming>& mine,
                                 const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
