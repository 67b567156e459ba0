#include "bench/gpu/contest.hpp"

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

/// A contender that runs, and its times.
struct Lane {
  Contender* contender;
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
    lane.contender->start(launch++);
    lane.after.record(stream);
  }
  cuda::synchronize(stream);
  for (Lane& lane : lanes) {
    if (lane.contender->finish) lane.contender->finish();
    lane.seconds.push_back(lane.after.seconds_since(lane.before));
  }
}

void run_round_on_host(std::vector<Lane>& lanes, const Order& order, std::uint64_t launch,
                       cudaStream_t stream) {
  using HostClock = std::chrono::steady_clock;
  for (const std::size_t number : order) {
    Lane& lane = lanes[number];
    const auto start = HostClock::now();
    lane.contender->start(launch++);
    lane.contender->finish();
    lane.seconds.push_back(std::chrono::duration<double>(HostClock::now() - start).count());
    cuda::synchronize(stream);
  }
}

std::vector<Lane> lanes_of(std::vector<Contender>& contenders) {
  std::vector<Lane> lanes;
  for (Contender& contender : contenders)
    if (contender.row.note.empty()) lanes.push_back({&contender, {}, {}, {}});
  return lanes;
}

}  // namespace

void hold_contest(std::vector<Contender>& contenders, const Protocol& protocol,
                  cudaStream_t stream) {
  std::vector<Lane> lanes = lanes_of(contenders);
  if (lanes.empty()) return;
  const bool on_host = lanes.front().contender->row.clock == Clock::host;
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
  for (Lane& lane : lanes) lane.contender->row.seconds = spread_of(std::move(lane.seconds));
}

}  // namespace warpfold::bench
