#include "cli/run/run_metrics.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "cli/report/report_test.hpp"

namespace warpfold::cli {
namespace {

const RunSubject subject{"scan", "in.h5", "values"};

MetricsSample metrics_sample() {
  using namespace std::chrono;
  MetricsSample sample;
  sample.time = system_clock::time_point(milliseconds(1'795'300'312'045));
  sample.elapsed = 12.25;
  sample.ranks = 3;
  sample.progress.pass = 1;
  sample.progress.pass_seconds = 10;
  sample.progress.done = 20'000'000'000;
  sample.progress.total = 25'000'000'000;
  sample.lately = {2.5, {{"read", 2, 0.5, 5.0, 7}, {"sync", 1, 0.1, {}, 0}}};
  return sample;
}

TEST(MetricsJson, TellsARunThatGoesOn) {
  EXPECT_EQ(metrics_json(subject, metrics_sample()).dump(),
            R"({"schema":"warpfold.metrics/1","time":"2026-11-21T22:31:52.045Z",)"
            R"("elapsed_seconds":12.25,"state":"running","command":"scan","file":"in.h5",)"
            R"("dataset":"values","dataset_number":1,"datasets":1,"pass":1,"ranks":3,)"
            R"("done_bytes":20000000000,"total_bytes":25000000000,"GB/s":2.5,"mean_GB/s":2.0,)"
            R"("eta_seconds":2.5,"rank0_stages":[)"
            R"({"stage":"read","threads":2,"busy":0.5,"GB/s":5.0,"bytes":7},)"
            R"({"stage":"sync","threads":1,"busy":0.1,"GB/s":null,"bytes":0}]})");
}

TEST(MetricsJson, KnowsNoTotalBeforeThereIsOne) {
  MetricsSample first = metrics_sample();
  first.progress = {};
  const Json line = metrics_json(subject, first);
  EXPECT_EQ(line["done_bytes"], 0);
  EXPECT_TRUE(line["total_bytes"].is_null());
  EXPECT_TRUE(line["eta_seconds"].is_null());
}

TEST(MetricsJson, ARunThatFailedSaysWhy) {
  MetricsSample last = metrics_sample();
  last.state = RunState::failed;
  last.error = "disk on fire";
  const Json line = metrics_json(subject, last);
  EXPECT_EQ(line["state"], "failed");
  EXPECT_EQ(line["error"], "disk on fire");
  EXPECT_TRUE(line["eta_seconds"].is_null());
}

class RunMetricsTest : public ReportTest {
 protected:
  std::vector<Json> lines() {
    std::vector<Json> lines;
    std::ifstream file(path("m"));
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }
};

TEST_F(RunMetricsTest, EndsOnceWithWhatTheWholeRunDid) {
  RunMetrics metrics(path("m"), 1);
  metrics.start(subject);
  RunProgress progress = metrics_sample().progress;
  progress.seconds = 10;
  progress.stages = {{"read", 1, false, 5, 10'000'000'000}};
  metrics.note(progress);
  metrics.end(RunState::done, "");
  metrics.end(RunState::failed, "too late");
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["state"], "running");
  EXPECT_EQ(all[1]["state"], "done");
  EXPECT_EQ(all[1]["done_bytes"], 20'000'000'000);
  EXPECT_EQ(all[1]["GB/s"], 2.0);
  EXPECT_EQ(all[1]["rank0_stages"][0]["busy"], 0.5);
  EXPECT_EQ(all[1]["rank0_stages"][0]["GB/s"], 2.0);
}

TEST_F(RunMetricsTest, NamesThatAreNoTextAreStillJson) {
  RunMetrics metrics(path("m"), 1);
  metrics.start({"reduce", "in\xff.h5", "a\"b\n"});
  metrics.end(RunState::done, "");
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["dataset"], "a\"b\n");
}

}  // namespace
}  // namespace warpfold::cli
