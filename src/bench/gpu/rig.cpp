#include "bench/gpu/rig.hpp"

#include <utility>

#include "bench/gpu/gpu_resources.hpp"
#include "bench/harness/across_ranks.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

RunOptions on_gpu(RunOptions options, const mpi::Communicator& communicator) {
  pipeline::run_on_all(communicator, [] {
    if (cuda::visible_devices().empty())
      throw Error("no GPU to measure on", cuda::unavailable_reason(),
                  "Run it on a host with a GPU, with a build with CUDA.");
  });
  options.backend = BackendChoice::cuda;
  return options;
}

/// A TimeRound by events around each launch: the host waits for a round as a whole, so that the GPU
/// finds the next launch when it is done with one.
class DeviceTimer {
 public:
  explicit DeviceTimer(cudaStream_t stream) : stream_(stream) {}

  std::vector<double> operator()(std::span<Candidate* const> in_turn, std::uint64_t launch) {
    before_.resize(in_turn.size());
    after_.resize(in_turn.size());
    for (std::size_t i = 0; i < in_turn.size(); ++i) {
      before_[i].record(stream_);
      in_turn[i]->run(launch++);
      after_[i].record(stream_);
    }
    cuda::synchronize(stream_);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < in_turn.size(); ++i) {
      if (in_turn[i]->after) in_turn[i]->after(in_turn[i]->row);
      seconds.push_back(after_[i].seconds_since(before_[i]));
    }
    return seconds;
  }

 private:
  cudaStream_t stream_;
  std::vector<cuda::TimedEvent> before_;
  std::vector<cuda::TimedEvent> after_;
};

std::vector<Row> measure_on(cudaStream_t stream, std::vector<Candidate> candidates,
                            const Rounds& rounds) {
  if (!candidates.empty() && candidates.front().row.clock == Clock::host)
    return measure(std::move(candidates), rounds, time_on_host);
  DeviceTimer timer(stream);
  return measure(std::move(candidates), rounds, std::ref(timer));
}

}  // namespace

Rig::Rig(MPI_Comm communicator, const Settings& settings)
    : communicator_(communicator),
      options_(settings.run),
      gpu_(pipeline::choose_backend(on_gpu(options_, communicator_), communicator_)) {
  rounds_.measured = settings.iterations.value_or(usual_iterations);
  memory_bytes_ = memory_for_arrays(options_, communicator_);
  result_.run = pipeline::describe_run(gpu_, communicator_);
  const int threads = threads_for_checks(options_, communicator_);
  on_every_rank([&] {
    host_ = cpu::make_backend(threads);
    stream_ = std::make_unique<cuda::Stream>();
    result_.device = current_device_facts();
  });
}

void Rig::on_every_rank(const std::function<void()>& body) const {
  pipeline::run_on_all(communicator_, body);
}

void Rig::measure(const std::function<std::vector<Candidate>()>& prepare) {
  std::vector<Candidate> candidates;
  on_every_rank([&] {
    pipeline::leave_if_interrupted(options_);
    candidates = prepare();
  });
  mpi::barrier(communicator_);
  std::vector<Row> rows;
  on_every_rank([&] { rows = measure_on(stream(), std::move(candidates), rounds_); });
  combine_over_ranks(rows, communicator_);
  compare_with_peers(rows);
  compare_with_plain(rows, "atomics", {"warpfold"});
  result_.add(std::move(rows));
}

void Rig::measure_together(std::vector<Candidate> candidates) {
  std::vector<Row> rows =
      bench::measure(std::move(candidates), rounds_, timed_on_all_ranks(options_, communicator_));
  set_rates(rows, communicator_.size());
  compare_with_peers(rows);
  result_.add(std::move(rows));
}

void Rig::add_note(const std::string& group, std::uint64_t bytes, const std::string& note) {
  result_.add({{.group = group, .bytes = bytes, .note = note}});
}

Candidate Rig::copy(Row row, const cuda::DeviceBuffer& to, const cuda::DeviceBuffer& from,
                    const Windows& windows) const {
  row.useful_bytes = 2 * row.bytes;
  return {std::move(row), [=, this, bytes = row.bytes, target = to.data(),
                           source = from.data()](std::uint64_t launch) {
            const std::uint64_t offset = windows.offset(launch);
            cuda::copy_on_device(target + offset, source + offset, bytes, stream());
          }};
}

void Rig::poison(void* results, std::uint64_t bytes) const {
  constexpr int unlikely = 0xa5;
  cuda::fill_bytes(results, unlikely, bytes, stream());
}

}  // namespace warpfold::bench
