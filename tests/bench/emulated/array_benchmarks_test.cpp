// The benchmarks of arrays on an emulated GPU: what they check there is right.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/benchmarks.hpp"
#include "mpi/environment.hpp"

namespace warpfold::bench {
namespace {

using Benchmark = Result (*)(MPI_Comm, const Settings&);

class ArrayBenchmarks : public ::testing::Test {
 protected:
  /// Runs the operations; all if there are none.
  static void expect_right(Benchmark benchmark, const std::string& peer,
                           const std::vector<std::string>& operations = {}) {
    Settings settings;
    settings.operations = operations;
    settings.sizes = {4096, 60'000};
    settings.iterations = 1;
    settings.run.device_memory_bytes = std::uint64_t{16} << 20;
    const Result result = benchmark(MPI_COMM_SELF, settings);
    EXPECT_EQ(result.wrong, 0);
    EXPECT_FALSE(result.rows.empty());
    for (const Row& row : result.rows) {
      SCOPED_TRACE(row.group + ", " + row.kernel + ", " + std::to_string(row.bytes));
      if (!row.note.empty()) {
        EXPECT_EQ(row.kernel, "CUB");
        continue;
      }
      EXPECT_TRUE(row.seconds);
      EXPECT_GE(row.useful_bytes, row.bytes);
      const bool is_peer = row.kernel == peer;
      EXPECT_TRUE(!is_peer || row.check == Check::right || row.error_ulps.value_or(1e9) < 1e6);
      EXPECT_TRUE(row.kernel != "warpfold" || row.check == Check::right);
    }
  }

  static void SetUpTestSuite() { static const mpi::Environment environment; }
};

TEST_F(ArrayBenchmarks, Histogram) { expect_right(bench_histogram, "CUB"); }

TEST_F(ArrayBenchmarks, Select) { expect_right(bench_select, "CUB"); }

TEST_F(ArrayBenchmarks, Axes) { expect_right(bench_axes, "CUB"); }

TEST_F(ArrayBenchmarks, Labels) {
  expect_right(bench_labels, "atomics", {"few", "few-skewed", "few-runs"});
}

}  // namespace
}  // namespace warpfold::bench
