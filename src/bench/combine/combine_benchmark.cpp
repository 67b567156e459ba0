#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "bench/benchmarks.hpp"
#include "bench/gpu/exchange.hpp"
#include "bench/gpu/gpu_resources.hpp"
#include "bench/harness/across_ranks.hpp"
#include "bench/harness/timing_loop.hpp"
#include "mpi/agreement.hpp"
#include "mpi/combine.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::bench {
namespace {

/// Reduces a few numbers over many binary orders that no two ranks share.
Accumulator sample_of(int rank) {
  Accumulator sample = Accumulator::empty();
  for (int i = 0; i < 100; ++i) {
    const double x = std::ldexp(100.0 * rank + i + 1.0, (i * 37) % 200 - 100);
    sample.sum.add(i % 2 == 0 ? x : -x);
    sample.absolute.add(x);
    sample.squares.add_square(x);
    ++sample.count;
  }
  sample.normalize();
  return sample;
}

std::vector<Exchange> mpi_exchanges(int rank) {
  const Accumulator sample = sample_of(rank);
  std::vector<Exchange> exchanges;
  const auto add = [&](const char* operation, Combination combination) {
    const Row row{.group = "combine, between hosts",
                  .operation = operation,
                  .kernel = "MPI",
                  .clock = Clock::host,
                  .bytes = sizeof(Accumulator)};
    exchanges.push_back({row, combination, sample, [sample] { return sample; }});
  };
  add("MPI_Reduce", Combination::reduce);
  add("MPI_Exscan", Combination::exscan);
  add("exclusive scan by doubling", Combination::doubling);
  return exchanges;
}

Accumulator combined(Combination combination, const Accumulator& mine,
                     const mpi::Communicator& communicator) {
  switch (combination) {
    case Combination::reduce:
      return mpi::reduce(mine, communicator);
    case Combination::exscan:
      return mpi::exclusive_scan(mine, communicator, mpi::ScanWay::exscan);
    case Combination::doubling:
      return mpi::exclusive_scan(mine, communicator, mpi::ScanWay::doubling);
    case Combination::none:
      break;
  }
  return mine;
}

/// Returns what the combination has to give on this rank, by merging one rank after the other;
/// nothing where MPI gives nothing.
std::optional<Accumulator> expected(const Exchange& exchange,
                                    const mpi::Communicator& communicator) {
  switch (exchange.combination) {
    case Combination::reduce: {
      const Accumulator whole = merged_ranks(exchange.right, communicator.size(), communicator);
      return communicator.is_root() ? std::optional(whole) : std::nullopt;
    }
    case Combination::exscan:
    case Combination::doubling:
      return merged_ranks(exchange.right, communicator.rank(), communicator);
    case Combination::none:
      break;
  }
  return exchange.right;
}

/// Goes from this rank's result to the combined one. A rank that has none combines all the same, as
/// the others wait for it, and fails afterwards.
Accumulator run_exchange(const Exchange& exchange, const mpi::Communicator& communicator) {
  Accumulator mine = Accumulator::empty();
  const std::exception_ptr failure = pipeline::capture_exception([&] { mine = exchange.take(); });
  const Accumulator result = combined(exchange.combination, mine, communicator);
  if (failure) std::rethrow_exception(failure);
  return result;
}

void check(Exchange& exchange, const mpi::Communicator& communicator) {
  const std::optional<Accumulator> right = expected(exchange, communicator);
  Accumulator found = Accumulator::empty();
  const std::exception_ptr failure =
      pipeline::capture_exception([&] { found = run_exchange(exchange, communicator); });
  mpi::throw_on_all_ranks(failure, communicator);
  const bool same = !right || std::memcmp(&*right, &found, sizeof(found)) == 0;
  exchange.row.check = check_of_ranks(same, communicator);
}

/// Checks the exchanges and measures them.
std::vector<Row> measured(std::vector<Exchange> exchanges, const Settings& settings,
                          const mpi::Communicator& communicator) {
  std::vector<Candidate> candidates;
  for (Exchange& exchange : exchanges) {
    check(exchange, communicator);
    candidates.push_back(
        {exchange.row, [&](std::uint64_t) { run_exchange(exchange, communicator); }});
  }
  std::vector<Row> rows =
      measure(std::move(candidates), {.measured = settings.iterations.value_or(usual_iterations)},
              timed_on_all_ranks(settings.run, communicator));
  set_rates(rows, communicator.size());
  return rows;
}

Settings with_usual_sizes(Settings settings) {
  constexpr std::uint64_t kibibyte = 1024;
  if (settings.sizes.empty())
    settings.sizes = {kibibyte, kibibyte * kibibyte, kibibyte * kibibyte * kibibyte};
  return settings;
}

}  // namespace

Result bench_combine(MPI_Comm parent, const Settings& settings) {
  const mpi::Communicator communicator(parent);
  const pipeline::ChosenBackend chosen = pipeline::choose_backend(settings.run, communicator);
  Result result;
  result.run = pipeline::describe_run(chosen, communicator);
  std::vector<Exchange> exchanges = mpi_exchanges(communicator.rank());
  if (result.run.backend == "cuda") {
    pipeline::run_on_all(communicator, [&] { result.device = current_device_facts(); });
    for (Exchange& exchange : gpu_exchanges(with_usual_sizes(settings), communicator))
      exchanges.push_back(std::move(exchange));
  }
  result.add(measured(std::move(exchanges), settings, communicator));
  return result;
}

}  // namespace warpfold::bench
