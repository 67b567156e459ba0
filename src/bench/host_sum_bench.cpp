#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "cpu/backend.hpp"
#include "cpu/host_backend.hpp"
#include "cpu/thread_pool.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"

/// Exact folds of an array in memory beside reading it and beside plain, inexact sums, by the same
/// threads: `warpfold_bench_host [MEBIBYTES [THREADS [RUNS [INSTRUCTION_SET]]]]`.
namespace warpfold {
namespace {

using Clock = std::chrono::steady_clock;

/// One row of the table: what is run, and how long it took each time.
struct Row {
  std::string label;
  std::function<void()> run;
  std::vector<double> seconds = {};
};

/// Runs the rows in turn, so that what else the machine does befalls all of them alike.
void measure(std::vector<Row>& rows, int runs) {
  for (Row& row : rows) row.run();
  for (int i = 0; i < runs; ++i) {
    for (Row& row : rows) {
      const auto start = Clock::now();
      row.run();
      row.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  for (Row& row : rows) std::sort(row.seconds.begin(), row.seconds.end());
}

double median(const Row& row) { return row.seconds[row.seconds.size() / 2]; }

/// All of the engine's buffers, one a thread, its results combined by addition.
template <class T, class Reduce>
T in_parallel(cpu::ThreadPool& pool, FoldEngine& engine, const Reduce& reduce) {
  std::vector<T> parts(static_cast<std::size_t>(engine.slots()));
  pool.parallel_for(parts.size(), [&](std::size_t slot, int) {
    parts[slot] = reduce(engine.buffer(static_cast<int>(slot)));
  });
  T total{};
  for (const T part : parts) total = static_cast<T>(total + part);
  return total;
}

std::uint64_t sum_of_words(std::span<const std::byte> bytes) {
  constexpr std::size_t lanes = 32;
  std::uint64_t sums[lanes] = {};
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(std::uint64_t);
  for (std::size_t i = 0; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += words[i + lane];
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

template <class T>
double plain_sum(std::span<const std::byte> bytes) {
  constexpr std::size_t lanes = 32;
  T sums[lanes] = {};
  const auto* x = reinterpret_cast<const T*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += x[i + lane];
  double total = 0.0;
  for (const T sum : sums) total += static_cast<double>(sum);
  return total;
}

enum class Data { uniform, normal, wide, sprinkled };

constexpr const char* name_of(Data data) {
  constexpr const char* names[] = {"uniform", "normal", "60 binary orders", "0.1 % NaN"};
  return names[static_cast<std::size_t>(data)];
}

double element(Data data, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  switch (data) {
    case Data::normal:
      return std::sqrt(-2.0 * std::log(unit + 0x1p-54)) * std::cos(static_cast<double>(random()));
    case Data::wide:
      return std::ldexp(random() % 2 == 0 ? 1.0 + unit : -1.0 - unit,
                        static_cast<int>(random() % 60) - 30);
    case Data::sprinkled:
      return random() % 1000 == 0 ? std::nan("") : unit;
    case Data::uniform:
      break;
  }
  return unit;
}

/// Repeats a run of random elements whose length has no common factor with that of a block.
template <class T>
void fill(std::span<std::byte> bytes, Data data) {
  constexpr std::size_t period = 1000003;
  std::mt19937_64 random(1);
  std::vector<T> pattern(period);
  for (T& x : pattern) x = static_cast<T>(element(data, random));
  auto* x = reinterpret_cast<T*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < n; i += period)
    std::copy_n(pattern.begin(), std::min(period, n - i), x + i);
}

class HostSumBench {
 public:
  HostSumBench(std::uint64_t bytes, int threads, int runs, const cpu::Kernels& kernels)
      : bytes_(bytes),
        bytes_a_thread_(bytes / static_cast<std::uint64_t>(threads)),
        runs_(runs),
        pool_(threads),
        backend_(cpu::make_backend(threads, kernels)) {}

  void run() {
    std::printf("%s, %.0f MiB, %d runs\n", backend_->device().c_str(),
                static_cast<double>(bytes_) / 0x1p20, runs_);
    std::printf("%-34s %8s %8s %8s %8s\n", "GB/s", "median", "least", "most", "of read");
    for (const Data data : {Data::uniform, Data::normal, Data::wide, Data::sprinkled})
      run_type<double>(ElementType::f64, data);
    for (const Data data : {Data::uniform, Data::normal, Data::wide, Data::sprinkled})
      run_type<float>(ElementType::f32, data);
  }

 private:
  template <class T>
  void run_type(ElementType type, Data data) {
    constexpr FoldNeeds sum_only{true, false, false, false};
    constexpr FoldNeeds everything{true, true, true, true};
    const std::uint64_t elements = bytes_a_thread_ / sizeof(T);
    const auto engine =
        backend_->make_fold_engine({{type}, sum_only, elements, 0, false, pool_.threads()});
    const auto all =
        backend_->make_fold_engine({{type}, everything, elements, 0, false, pool_.threads()});
    for (int slot = 0; slot < pool_.threads(); ++slot) {
      fill<T>(engine->buffer(slot), data);
      fill<T>(all->buffer(slot), data);
    }
    const std::string label = std::string(warpfold::name_of(type)) + ' ' + name_of(data);
    std::vector<Row> rows{
        {label + ": read", [&] { keep(in_parallel<std::uint64_t>(pool_, *engine, sum_of_words)); }},
        {label + ": plain sum", [&] { keep(in_parallel<double>(pool_, *engine, plain_sum<T>)); }},
        {label + ": exact sum", [&] { fold(*engine, elements); }},
        {label + ": all statistics", [&] { fold(*all, elements); }}};
    measure(rows, runs_);
    for (const Row& row : rows) print(row, median(rows.front()));
  }

  void fold(FoldEngine& engine, std::uint64_t elements) {
    pool_.parallel_for(static_cast<std::size_t>(engine.slots()), [&](std::size_t slot, int) {
      engine.submit(static_cast<int>(slot), 0, slot * elements, elements);
    });
    keep(engine.finish().sum.rounded());
  }

  template <class T>
  void keep(T value) {
    sink_ = std::bit_cast<std::uint64_t>(value);
  }

  void print(const Row& row, double read_seconds) const {
    const double gigabytes = static_cast<double>(bytes_) * 1e-9;
    std::printf("%-34s %8.2f %8.2f %8.2f %8.2f\n", row.label.c_str(), gigabytes / median(row),
                gigabytes / row.seconds.back(), gigabytes / row.seconds.front(),
                read_seconds / median(row));
    std::fflush(stdout);
  }

  std::uint64_t bytes_;
  std::uint64_t bytes_a_thread_;
  int runs_;
  cpu::ThreadPool pool_;
  std::unique_ptr<Backend> backend_;
  std::atomic<std::uint64_t> sink_ = 0;
};

std::uint64_t argument(const std::vector<std::string>& arguments, std::size_t place,
                       std::uint64_t otherwise) {
  if (place >= arguments.size()) return otherwise;
  std::uint64_t value = 0;
  const std::string& text = arguments[place];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0)
    throw usage_error("'" + text + "' is no positive number", "",
                      "Give MEBIBYTES THREADS RUNS INSTRUCTION_SET.");
  return value;
}

const cpu::Kernels& chosen_kernels(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) return *cpu::available_kernels().front();
  std::string names;
  for (const cpu::Kernels* kernels : cpu::available_kernels()) {
    if (arguments[3] == kernels->name) return *kernels;
    names += std::string(" ") + kernels->name;
  }
  throw usage_error("no instruction set '" + arguments[3] + "'", "", "This machine has" + names);
}

}  // namespace
}  // namespace warpfold

int main(int count, char** values) {
  using namespace warpfold;
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    const std::uint64_t bytes = argument(arguments, 0, 1024) << 20;
    const auto cores = static_cast<std::uint64_t>(cpu::available_cores());
    const auto threads = static_cast<int>(argument(arguments, 1, cores));
    const auto runs = static_cast<int>(argument(arguments, 2, 7));
    HostSumBench(bytes, threads, runs, chosen_kernels(arguments)).run();
  } catch (const Error& error) {
    std::fprintf(stderr, "warpfold: error: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
