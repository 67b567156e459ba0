#include "pipeline/run/stage_timings.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mpi/environment.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {
namespace {

using nlohmann::json;

std::string packed(const std::vector<StageTiming>& stages) {
  json document = json::array();
  for (const StageTiming& each : stages)
    document.push_back({each.stage, each.threads, each.seconds, each.waiting, each.bytes});
  const std::vector<std::uint8_t> bytes = json::to_msgpack(document);
  return {bytes.begin(), bytes.end()};
}

std::vector<StageTiming> unpacked(const std::string& text) {
  std::vector<StageTiming> stages;
  for (const json& each : json::from_msgpack(text.begin(), text.end()))
    stages.push_back({each[0].get<std::string>(), each[1].get<int>(), each[2].get<double>(),
                      each[3].get<double>(), each[4].get<std::uint64_t>()});
  return stages;
}

/// Returns those of all ranks.
std::vector<StageTiming> gathered(const std::vector<StageTiming>& mine,
                                  const mpi::Communicator& communicator) {
  if (communicator.is_alone()) return mine;
  std::vector<StageTiming> all;
  for (const std::string& rank : mpi::gather_everywhere(packed(mine), communicator))
    append(all, unpacked(rank));
  return all;
}

std::vector<StageTiming>::iterator find_stage(std::vector<StageTiming>& stages,
                                              const std::string& name) {
  return std::find_if(stages.begin(), stages.end(),
                      [&](const StageTiming& each) { return each.stage == name; });
}

}  // namespace

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void put_engine_stages(std::vector<StageTiming>& stages, const std::string& callers,
                       const std::vector<StageTiming>& engine) {
  if (engine.empty()) return;
  const auto place = find_stage(stages, callers) - stages.begin();
  std::erase_if(stages, [&](const StageTiming& each) { return each.stage == callers; });
  stages.insert(stages.begin() + place, engine.begin(), engine.end());
}

StageRegistry* registry_of_callers(const Engine& engine, StageRegistry& registry) {
  return engine.timings().empty() ? &registry : nullptr;
}

StageTiming sync_on_all_ranks(const std::function<void()>& sync, StageRegistry& registry,
                              const mpi::Communicator& communicator) {
  StageTimer timer(registry, stage::sync);
  run_on_all(communicator, [&] { timer.time(0, sync); });
  return timer.timing();
}

void put_start_stages(std::vector<StageTiming>& stages, std::vector<StageTiming> start) {
  start.insert(start.begin(), {stage::start_mpi, 1, mpi::start_seconds(), 0, 0});
  std::erase_if(start, [](const StageTiming& each) { return each.seconds == 0; });
  stages.insert(stages.begin(), start.begin(), start.end());
}

void append(std::vector<StageTiming>& stages, const std::vector<StageTiming>& more) {
  stages.insert(stages.end(), more.begin(), more.end());
}

void add_up(std::vector<StageTiming>& stages, const std::vector<StageTiming>& more) {
  for (const StageTiming& each : more) {
    const auto known = find_stage(stages, each.stage);
    if (known == stages.end()) {
      stages.push_back(each);
      continue;
    }
    known->seconds += each.seconds;
    known->waiting += each.waiting;
    known->bytes += each.bytes;
  }
}

std::vector<StageTiming> over_threads(const std::vector<StageTiming>& threads, double seconds) {
  std::vector<StageTiming> stages;
  for (const StageTiming& each : threads) {
    auto stage = find_stage(stages, each.stage);
    if (stage == stages.end()) stage = stages.insert(stages.end(), {each.stage, 0, 0, 0, 0});
    stage->threads += each.threads;
    stage->seconds += each.threads * each.seconds;
    stage->bytes += each.bytes;
  }
  for (StageTiming& each : stages) {
    each.seconds /= each.threads;
    each.waiting = std::max(0.0, seconds - each.seconds);
  }
  return stages;
}

std::vector<StageTiming> busiest(const std::vector<StageTiming>& mine,
                                 const mpi::Communicator& communicator) {
  std::vector<StageTiming> stages;
  for (StageTiming& each : gathered(mine, communicator)) {
    const auto known = find_stage(stages, each.stage);
    if (known == stages.end())
      stages.push_back(std::move(each));
    else if (known->seconds < each.seconds)
      *known = std::move(each);
  }
  return stages;
}

}  // namespace warpfold::pipeline
