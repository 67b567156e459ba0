#include "bench/gpu/benchmark.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/timed_event.hpp"

namespace warpfold::bench {
namespace {

/// A candidate that runs, and its times.
struct Lane {
  Candidate* candidate;
  cuda::TimedEvent before;
  cuda::TimedEvent after;
  std::vector<double> seconds;
};

using Order = std::vector<std::size_t>;

void run_round_on_device(std::vector<Lane>& lanes, const Order& order, std::uint64_t launch,
                         cudaStream_t stream) {
  for (const std::size_t number : order) {
    Lane& lane = lanes[number];
    lane.before.record(stream);
    lane.candidate->start(launch++);
    lane.after.record(stream);
  }
  cuda::synchronize(stream);
  for (Lane& lane : lanes) {
    if (lane.candidate->finish) lane.candidate->finish();
    lane.seconds.push_back(lane.after.seconds_since(lane.before));
  }
}

void run_round_on_host(std::vector<Lane>& lanes, const Order& order, std::uint64_t launch,
                       cudaStream_t stream) {
  using HostClock = std::chrono::steady_clock;
  for (const std::size_t number : order) {
    Lane& lane = lanes[number];
    const auto start = HostClock::now();
    lane.candidate->start(launch++);
    lane.candidate->finish();
    lane.seconds.push_back(std::chrono::duration<double>(HostClock::now() - start).count());
    cuda::synchronize(stream);
  }
}

std::vector<Lane> lanes_of(std::vector<Candidate>& candidates) {
  std::vector<Lane> lanes;
  for (Candidate& candidate : candidates)
    if (candidate.row.note.empty()) lanes.push_back({&candidate, {}, {}, {}});
  return lanes;
}

}  // namespace

void hold_benchmark(std::vector<Candidate>& candidates, const Protocol& protocol,
                    cudaStream_t stream) {
  std::vector<Lane> lanes = lanes_of(candidates);
  if (lanes.empty()) return;
  const bool on_host = lanes.front().candidate->row.clock == Clock::host;
  const auto run_round = on_host ? run_round_on_host : run_round_on_device;
  const auto warm_up = static_cast<std::size_t>(protocol.warm_up);
  Order order(lanes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random;
  const std::size_t rounds = warm_up + static_cast<std::size_t>(protocol.iterations);
  for (std::size_t round = 0; round < rounds; ++round) {
    if (round == warm_up)
      for (Lane& lane : lanes) lane.seconds.clear();
    std::shuffle(order.begin(), order.end(), random);
    run_round(lanes, order, round * lanes.size(), stream);
  }
  for (Lane& lane : lanes) lane.candidate->row.seconds = spread_of(std::move(lane.seconds));
}

}  // namespace warpfold::bench
