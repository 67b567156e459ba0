#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "bench/bench.hpp"
#include "bench/device_facts.hpp"
#include "bench/exchange.hpp"
#include "mpi/agreement.hpp"
#include "mpi/combine.hpp"
#include "mpi/mpi_error.hpp"
#include "pipeline/backend_choice.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/run_watch.hpp"

namespace warpfold::bench {
namespace {

using HostClock = std::chrono::steady_clock;

constexpr int warm_up_rounds = 3;

/// Of a few numbers over many binary orders that no two ranks share.
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
  std::vector<Exchange> exchanges;
  const auto add = [&](const char* operation, Combination combination) {
    Row row;
    row.group = "combine, between hosts";
    row.operation = operation;
    row.kernel = "MPI";
    row.clock = Clock::host;
    row.bytes = sizeof(Accumulator);
    const Accumulator sample = sample_of(rank);
    exchanges.push_back({std::move(row), combination, sample, [sample] { return sample; }});
  };
  add("MPI_Reduce", Combination::reduce);
  add("MPI_Exscan", Combination::exclusive_scan);
  return exchanges;
}

/// Runs exchanges on all ranks at once; a rank whose GPU fails goes on communicating until all have
/// agreed to stop.
class Exchanges {
 public:
  Exchanges(std::vector<Exchange> exchanges, const mpi::Communicator& communicator)
      : exchanges_(std::move(exchanges)),
        communicator_(communicator),
        seconds_(exchanges_.size()) {}

  /// Returns the rows, on every rank.
  std::vector<Row> run(int iterations, const RunOptions& options) {
    for (Exchange& exchange : exchanges_) check(exchange);
    for (int round = 0; round < warm_up_rounds + iterations; ++round) {
      pipeline::run_on_all(communicator_, [&] {
        if (failure_) std::rethrow_exception(failure_);
        pipeline::leave_if_interrupted(options);
      });
      if (round == warm_up_rounds)
        for (auto& samples : seconds_) samples.clear();
      for (std::size_t i = 0; i < exchanges_.size(); ++i)
        time((static_cast<std::size_t>(round) + i) % exchanges_.size());
    }
    mpi::settle(failure_, communicator_);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < exchanges_.size(); ++i) rows.push_back(finished_row(i));
    return rows;
  }

 private:
  Accumulator take(const Exchange& exchange) {
    try {
      return exchange.take();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      return Accumulator::empty();
    }
  }

  Accumulator combined(const Exchange& exchange, const Accumulator& mine) const {
    switch (exchange.combination) {
      case Combination::reduce:
        return mpi::reduce(mine, communicator_);
      case Combination::exclusive_scan:
        return mpi::exclusive_scan(mine, communicator_);
      case Combination::none:
        break;
    }
    return mine;
  }

  /// What the combination has to give on this rank, by merging one rank after the other.
  std::optional<Accumulator> expected(const Exchange& exchange) const {
    if (exchange.combination == Combination::none) return exchange.right;
    std::vector<Accumulator> all(static_cast<std::size_t>(communicator_.size()));
    mpi::check(MPI_Allgather(&exchange.right, sizeof(Accumulator), MPI_BYTE, all.data(),
                             sizeof(Accumulator), MPI_BYTE, communicator_.get()),
               "MPI_Allgather");
    const bool reduces = exchange.combination == Combination::reduce;
    if (reduces && !communicator_.is_root()) return std::nullopt;
    const int ranks = reduces ? communicator_.size() : communicator_.rank();
    Accumulator merged = Accumulator::empty();
    for (int rank = 0; rank < ranks; ++rank) merged.merge(all[static_cast<std::size_t>(rank)]);
    merged.normalize();
    return merged;
  }

  void check(Exchange& exchange) {
    const std::optional<Accumulator> right = expected(exchange);
    const Accumulator mine = combined(exchange, take(exchange));
    const bool wrong = right && std::memcmp(&*right, &mine, sizeof(mine)) != 0;
    const double wrong_anywhere = mpi::maximum({wrong ? 1.0 : 0.0}, communicator_).front();
    exchange.row.check = wrong_anywhere > 0 ? Check::wrong : Check::right;
  }

  void time(std::size_t number) {
    mpi::check(MPI_Barrier(communicator_.get()), "MPI_Barrier");
    const auto start = HostClock::now();
    combined(exchanges_[number], take(exchanges_[number]));
    seconds_[number].push_back(std::chrono::duration<double>(HostClock::now() - start).count());
  }

  /// An exchange takes as long as its slowest rank.
  Row finished_row(std::size_t number) {
    Row row = std::move(exchanges_[number].row);
    row.seconds = spread_of(mpi::maximum(std::move(seconds_[number]), communicator_));
    const auto bytes = static_cast<double>(row.useful_bytes) * communicator_.size();
    if (row.useful_bytes != 0) row.gigabytes_per_second = bytes / row.seconds->median * 1e-9;
    return row;
  }

  std::vector<Exchange> exchanges_;
  const mpi::Communicator& communicator_;
  std::vector<std::vector<double>> seconds_;
  std::exception_ptr failure_;
};

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
  result.rows =
      Exchanges(std::move(exchanges), communicator).run(settings.iterations, settings.run);
  for (const Row& row : result.rows)
    if (row.check == Check::wrong) ++result.wrong;
  return result;
}

}  // namespace warpfold::bench
