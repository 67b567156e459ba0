#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/host/host_benchmark.hpp"
#include "core/engine/backend.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/machine/thread_pool.hpp"

namespace warpfold::bench::host {
namespace {

/// All of the engine's buffers, one a thread, its results combined by addition.
template <class T, class Reduce>
T in_parallel(cpu::ThreadPool& pool, ReduceEngine& engine, const Reduce& reduce) {
  std::vector<T> parts(static_cast<std::size_t>(engine.threads()));
  pool.parallel_for(parts.size(), [&](std::size_t thread, int) {
    parts[thread] = reduce(engine.take(static_cast<int>(thread)).memory);
  });
  T total{};
  for (const T part : parts) total = static_cast<T>(total + part);
  return total;
}

std::uint64_t sum_of_words(std::span<const std::byte> bytes) {
  constexpr std::size_t columns = 32;
  std::uint64_t sums[columns] = {};
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(std::uint64_t);
  for (std::size_t i = 0; i + columns <= n; i += columns)
    for (std::size_t c = 0; c < columns; ++c) sums[c] += words[i + c];
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

template <class T>
double plain_sum(std::span<const std::byte> bytes) {
  constexpr std::size_t columns = 32;
  T sums[columns] = {};
  const auto* x = reinterpret_cast<const T*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i + columns <= n; i += columns)
    for (std::size_t c = 0; c < columns; ++c) sums[c] += x[i + c];
  double total = 0.0;
  for (const T sum : sums) total += static_cast<double>(sum);
  return total;
}

class HostSums {
 public:
  explicit HostSums(const Setup& setup)
      : bytes_(setup.bytes),
        bytes_a_thread_(setup.bytes / static_cast<std::uint64_t>(setup.threads)),
        runs_(setup.runs),
        pool_(setup.threads),
        backend_(cpu::make_backend(setup.threads, setup.kernels)) {}

  void run() {
    print_heading("read");
    for (const Data data : {Data::uniform, Data::normal, Data::wide, Data::sprinkled})
      run_type<double>(ElementType::f64, data);
    for (const Data data : {Data::uniform, Data::normal, Data::wide, Data::sprinkled})
      run_type<float>(ElementType::f32, data);
  }

 private:
  template <class T>
  void run_type(ElementType type, Data data) {
    constexpr ReduceNeeds sum_only{true, false, false, false};
    constexpr ReduceNeeds everything{true, true, true, true};
    const std::uint64_t elements = bytes_a_thread_ / sizeof(T);
    const StagingPlan plan{{type}, {}, elements, 0, Staging::run, pool_.threads()};
    const auto engine = backend_->make_reduce_engine(plan, sum_only);
    const auto all = backend_->make_reduce_engine(plan, everything);
    for (int thread = 0; thread < pool_.threads(); ++thread) {
      fill<T>(engine->take(thread).memory, data);
      fill<T>(all->take(thread).memory, data);
    }
    const std::string label = std::string(warpfold::name_of(type)) + ' ' + name_of(data);
    measure_and_print(
        {candidate(label + ": read",
                   [&] { keep(in_parallel<std::uint64_t>(pool_, *engine, sum_of_words)); }),
         candidate(label + ": plain sum",
                   [&] { keep(in_parallel<double>(pool_, *engine, plain_sum<T>)); }),
         candidate(label + ": exact sum", [&] { reduce(*engine, elements); }),
         candidate(label + ": all statistics", [&] { reduce(*all, elements); })},
        bytes_, runs_);
  }

  void reduce(ReduceEngine& engine, std::uint64_t elements) {
    pool_.parallel_for(static_cast<std::size_t>(engine.threads()), [&](std::size_t thread, int) {
      engine.submit(engine.take(static_cast<int>(thread)),
                    staged_run({}, {0, elements}, thread * elements));
    });
    keep(engine.finish().sum.rounded());
  }

  template <class T>
  void keep(T value) {
    sink_ = std::bit_cast<std::uint64_t>(value);
  }

  std::uint64_t bytes_;
  std::uint64_t bytes_a_thread_;
  int runs_;
  cpu::ThreadPool pool_;
  std::unique_ptr<Backend> backend_;
  std::atomic<std::uint64_t> sink_ = 0;
};

}  // namespace

void bench_sums(const Setup& setup) { HostSums(setup).run(); }

}  // namespace warpfold::bench::host
