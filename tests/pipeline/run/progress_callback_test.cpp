#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/output/generate.hpp"
#include "warpfold/compact.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/histogram.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

namespace warpfold::pipeline {
namespace {

namespace fs = std::filesystem;

class ProgressCallbackTest : public ::testing::Test {
 protected:
  ProgressCallbackTest() {
    fs::create_directories(folder_);
    output_.path = (folder_ / "out.h5").string();
    GenerateOptions options;
    options.shape = {4096, 2048};
    options.storage.chunk_shape = {1, 2048};
    options.output.path = in_;
    options.output.dataset = "values";
    generate(MPI_COMM_WORLD, options);
  }

  ~ProgressCallbackTest() override {
    mpi::barrier(ranks_);
    if (ranks_.is_root()) fs::remove_all(folder_);
  }

  /// Returns what is thrown where the last rank's callback throws; nothing may be written then.
  Error error_of(const std::function<void(const RunOptions&)>& command,
                 const std::function<void()>& fail) {
    // So slow that the callback is called before the command has ended.
    RunOptions options;
    options.threads = 1;
    options.slab_bytes = 4096;
    if (ranks_.is_last()) {
      options.progress_interval = {};
      options.progress = [&](const RunProgress&) { fail(); };
    }
    Error thrown("nothing was thrown", "", "");
    try {
      command(options);
    } catch (const Error& error) {
      thrown = error;
    }
    mpi::barrier(ranks_);
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(folder_)) left.push_back(entry.path());
    EXPECT_EQ(left, std::vector<fs::path>{in_});
    mpi::barrier(ranks_);
    return thrown;
  }

  void expect_errors(const std::function<void(const RunOptions&)>& command) {
    EXPECT_EQ(error_of(command, [] { throw Error("enough", "", ""); }).problem(), "enough");
    EXPECT_EQ(error_of(command, [] { throw std::runtime_error("enough"); }).why(), "enough");
    EXPECT_EQ(error_of(command, [] { throw 42; }).problem(), "unexpected failure");
  }

  /// Expects these of a command that takes `options`.
  template <class Options, class Command>
  void expect_errors(Options options, const Command& command) {
    expect_errors([&](const RunOptions& run) {
      options.run = run;
      command(options);
    });
  }

  const mpi::Communicator ranks_{MPI_COMM_WORLD};
  const fs::path folder_ =
      fs::temp_directory_path() /
      ("warpfold-callback-" + mpi::broadcast(std::to_string(::getpid()), ranks_));
  const std::string in_ = (folder_ / "in.h5").string();
  OutputOptions output_;
};

TEST_F(ProgressCallbackTest, EndsAGenerationByWhatItThrows) {
  for (const bool is_chunked : {false, true}) {
    GenerateOptions options;
    options.shape = {1 << 23};
    if (is_chunked) options.storage.chunk_shape = {1 << 10};
    options.output = output_;
    options.output.dataset = "values";
    expect_errors(options, [](const auto& with_run) { generate(MPI_COMM_WORLD, with_run); });
  }
}

TEST_F(ProgressCallbackTest, EndsAScanByWhatItThrows) {
  for (const bool is_chunked : {false, true}) {
    ScanOptions options;
    if (is_chunked) options.storage.chunk_shape = {1, 2048};
    options.output = output_;
    expect_errors(options,
                  [&](const auto& with_run) { scan(MPI_COMM_WORLD, in_, "values", with_run); });
  }
}

TEST_F(ProgressCallbackTest, EndsACompactionByWhatItThrows) {
  CompactOptions options;
  options.output = output_;
  expect_errors(options,
                [&](const auto& with_run) { compact(MPI_COMM_WORLD, in_, "values", with_run); });
}

TEST_F(ProgressCallbackTest, EndsReductionsByWhatItThrows) {
  expect_errors(ReduceOptions(),
                [&](const auto& with_run) { reduce(MPI_COMM_WORLD, in_, "values", with_run); });
  expect_errors(HistogramOptions(),
                [&](const auto& with_run) { histogram(MPI_COMM_WORLD, in_, "values", with_run); });
}

}  // namespace
}  // namespace warpfold::pipeline
