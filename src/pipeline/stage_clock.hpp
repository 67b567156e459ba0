#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Adds up one stage's busy time and bytes; used by one thread.
class StageClock {
 public:
  explicit StageClock(std::string name) : name_(std::move(name)) {}

  /// Runs `body`, which takes `bytes` through the stage.
  template <class Body>
  decltype(auto) time(std::uint64_t bytes, Body&& body) {
    const Running running(*this, bytes);
    return body();
  }

  StageTiming timing() const { return {name_, seconds_.count(), bytes_}; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Running {
    Running(StageClock& stage, std::uint64_t bytes) : stage_(stage) { stage.bytes_ += bytes; }
    ~Running() { stage_.seconds_ += Clock::now() - start_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    StageClock& stage_;
    Clock::time_point start_ = Clock::now();
  };

  std::string name_;
  std::chrono::duration<double> seconds_{0};
  std::uint64_t bytes_ = 0;
};

/// The busiest rank's time and the largest number of bytes of each stage, on every rank;
/// collective.
std::vector<StageTiming> busiest(const std::vector<StageTiming>& mine,
                                 const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
