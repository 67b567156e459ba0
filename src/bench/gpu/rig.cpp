#include "bench/gpu/rig.hpp"

#include <utility>

#include "bench/gpu/device_facts.hpp"
#include "bench/gpu/rank_resources.hpp"
#include "bench/harness/across_ranks.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "mpi/mpi_error.hpp"
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

}  // namespace

Rig::Rig(MPI_Comm communicator, const RunOptions& options, int iterations)
    : communicator_(communicator),
      options_(options),
      gpu_(pipeline::choose_backend(on_gpu(options, communicator_), communicator_)) {
  protocol_.iterations = iterations;
  memory_bytes_ = memory_for_arrays(options, communicator_);
  result_.run = pipeline::describe_run(gpu_, communicator_);
  const int threads = threads_for_checks(options, communicator_);
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
  mpi::check(MPI_Barrier(communicator_.get()), "MPI_Barrier");
  on_every_rank([&] { hold_benchmark(candidates, protocol_, stream()); });
  std::vector<Row> rows = rows_of(std::move(candidates));
  combine_over_ranks(rows, communicator_);
  add(std::move(rows));
}

void Rig::measure_together(std::vector<RankCandidate> candidates) {
  hold_rank_benchmark(candidates, protocol_.iterations, options_, communicator_);
  add(rows_of(std::move(candidates)));
}

void Rig::add(std::vector<Row> rows) {
  compare_with_peers(rows);
  for (Row& row : rows) {
    if (row.check == Check::wrong) ++result_.wrong;
    result_.rows.push_back(std::move(row));
  }
}

void Rig::add_note(const std::string& group, std::uint64_t bytes, const std::string& note) {
  Row row;
  row.group = group;
  row.bytes = bytes;
  row.note = note;
  result_.rows.push_back(std::move(row));
}

Result Rig::take_result() { return std::move(result_); }

}  // namespace warpfold::bench
