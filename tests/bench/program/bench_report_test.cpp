#include "bench/program/bench_report.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

Row row_of(const char* group, const char* kernel) {
  Row row;
  row.group = group;
  row.operation = "sum";
  row.kernel = kernel;
  row.elements = 1024;
  row.bytes = 4096;
  row.useful_bytes = 4096;
  row.seconds = Spread{2e-6, 1e-6, 4e-6};
  row.gigabytes_per_second = 2.048;
  row.of_cub = 1.25;
  row.check = Check::right;
  return row;
}

/// A reduction, CUB with an error, a kernel that was refused, and a second group.
Result sample() {
  Result result;
  result.run.backend = "cuda";
  result.run.devices = {"a GPU"};
  result.device.compute_capability = "9.0";
  result.device.cub = "CUB 3.0.1";
  result.rows = {row_of("reduce f32", "fold"), row_of("reduce f32", "CUB"),
                 row_of("reduce f32", "other"), row_of("reduce f64", "fold")};
  result.rows[1].check = Check::none;
  result.rows[1].error_ulps = std::numeric_limits<double>::infinity();
  result.rows[2].seconds.reset();
  result.rows[2].gigabytes_per_second.reset();
  result.rows[2].note = "refused here";
  return result;
}

TEST(BenchReport, HasATableForEachGroup) {
  const std::string text = bench_report("bench", "reduce", sample()).text;
  EXPECT_NE(text.find("\nreduce f32\n"), std::string::npos);
  EXPECT_NE(text.find("\nreduce f64\n"), std::string::npos);
  EXPECT_NE(text.find("refused here"), std::string::npos);
  EXPECT_NE(text.find("4.00 KiB"), std::string::npos);
  EXPECT_NE(text.find("2.0"), std::string::npos);
  EXPECT_NE(text.find("1.250"), std::string::npos);
  EXPECT_NE(text.find("inf"), std::string::npos);
}

TEST(BenchReport, MarksWhatIsWrong) {
  Result result = sample();
  EXPECT_EQ(bench_report("bench", "reduce", result).text.find("WRONG"), std::string::npos);
  EXPECT_NO_THROW(refuse_wrong_results(result));
  result.rows[0].check = Check::wrong;
  result.wrong = 1;
  EXPECT_NE(bench_report("bench", "reduce", result).text.find("WRONG"), std::string::npos);
  try {
    refuse_wrong_results(result);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::failed);
    EXPECT_EQ(error.problem(), "1 wrong result");
  }
}

TEST(BenchReport, HasAnObjectForEachRow) {
  const cli::Json json = bench_report("ladder", "scan", sample()).json;
  EXPECT_EQ(json["schema"], "warpfold.ladder/1");
  EXPECT_EQ(json["measured"], "scan");
  EXPECT_EQ(json["gpu"]["cub"], "CUB 3.0.1");
  ASSERT_EQ(json["results"].size(), 4u);
  const cli::Json& row = json["results"][0];
  EXPECT_EQ(row["kernel"], "fold");
  EXPECT_EQ(row["clock"], "device");
  EXPECT_EQ(row["bytes"], 4096);
  EXPECT_EQ(row["seconds"]["median"], 2e-6);
  EXPECT_EQ(row["seconds"]["min"], 1e-6);
  EXPECT_EQ(row["seconds"]["max"], 4e-6);
  EXPECT_EQ(row["GB/s"], 2.048);
  EXPECT_EQ(row["of_cub"], 1.25);
  EXPECT_TRUE(row["of_copy"].is_null());
  EXPECT_EQ(row["check"], "right");
  EXPECT_TRUE(json["results"][1]["check"].is_null());
  EXPECT_TRUE(json["results"][2]["seconds"].is_null());
  EXPECT_EQ(json["results"][2]["note"], "refused here");
}

TEST(BenchReport, HasALineOfCsvForEachRow) {
  const cli::Table csv = bench_report("bench", "reduce", sample()).csv;
  ASSERT_EQ(csv.size(), 5u);
  for (const auto& row : csv) EXPECT_EQ(row.size(), csv.front().size());
  EXPECT_EQ(csv.front().front(), "group");
  EXPECT_EQ(csv[1][2], "fold");
  EXPECT_EQ(csv[1][6], "2e-06");
  EXPECT_EQ(csv[3][6], "");
}

}  // namespace
}  // namespace warpfold::bench
