#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// The stages that data pass, by the names that reports give them. Those inside an engine are named
/// by it, with the same words.
namespace stage {
inline constexpr const char* read = "read";
inline constexpr const char* decompress = "decompress";
inline constexpr const char* copy_to_gpu = "copy to GPU";
inline constexpr const char* fold = "fold";
inline constexpr const char* scan = "scan";
inline constexpr const char* compact = "compact";
inline constexpr const char* exscan = "exscan";
inline constexpr const char* copy_from_gpu = "copy from GPU";
inline constexpr const char* generate = "generate";
inline constexpr const char* read_back = "read back";
inline constexpr const char* compress = "compress";
inline constexpr const char* write = "write";
inline constexpr const char* sync = "sync";
inline constexpr const char* combine = "combine";
}  // namespace stage

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start);

/// Adds up one stage's busy time and bytes. Each thread has its own.
class StageClock {
 public:
  explicit StageClock(std::string name) : name_(std::move(name)) {}

  /// Runs `body`, which takes `bytes` through the stage.
  template <class Body>
  decltype(auto) time(std::uint64_t bytes, Body&& body) {
    const Running running(*this, bytes);
    return body();
  }

  /// Of one thread that never waited.
  StageTiming timing() const { return {name_, 1, seconds_.count(), 0, bytes_}; }

 private:
  struct Running {
    Running(StageClock& stage, std::uint64_t bytes) : stage_(stage) { stage.bytes_ += bytes; }
    ~Running() { stage_.seconds_ += SteadyClock::now() - start_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    StageClock& stage_;
    SteadyClock::time_point start_ = SteadyClock::now();
  };

  std::string name_;
  std::chrono::duration<double> seconds_{0};
  std::uint64_t bytes_ = 0;
};

/// The stages of an engine, each as one thread's; where it says nothing, it has worked in the
/// threads that called it, whose stages are `callers`.
std::vector<StageTiming> engine_stages(const std::vector<EngineTiming>& engine,
                                       const std::vector<StageTiming>& callers);

void append(std::vector<StageTiming>& stages, const std::vector<StageTiming>& more);

/// The threads of one rank together, after `seconds` in which all of them ran: one timing for each
/// stage, in the order in which the stages first appear. What a stage wasn't busy, it waited.
std::vector<StageTiming> over_threads(const std::vector<StageTiming>& threads, double seconds);

/// Each stage's timing on the rank where its threads were busiest, on every rank; in the order in
/// which the stages first appear, ranks in order. Collective.
std::vector<StageTiming> busiest(const std::vector<StageTiming>& mine,
                                 const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
