// A program that uses the installed library: consumer FILE DATASET OUTPUT, where the dataset holds
// 0, 1, ..., n - 1.

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <variant>

#include "warpfold/core/error.hpp"
#include "warpfold/reduce.hpp"
#include "warpfold/scan.hpp"

namespace {

using warpfold::int128;
using warpfold::Statistic;

bool is_integer(const warpfold::Value& value, int128 expected) {
  const int128* integer = std::get_if<int128>(&value);
  return integer != nullptr && *integer == expected;
}

bool results_are_right(const warpfold::ReduceResult& reduced, const warpfold::ScanResult& scanned) {
  const auto last = static_cast<std::int64_t>(scanned.count) - 1;
  const std::int64_t sum = last * (last + 1) / 2;
  const warpfold::Summary& summary = reduced.summary;
  return summary.size() == 2 && summary[0].first == Statistic::sum &&
         is_integer(summary[0].second, sum) && is_integer(summary[1].second, last) &&
         is_integer(scanned.last, sum) && scanned.shape == reduced.shape;
}

bool use_library(const char* file, const char* dataset, const char* output) {
  warpfold::ReduceOptions reduce_options;
  reduce_options.statistics = {Statistic::sum, Statistic::argmax};
  reduce_options.run.share_gpu = true;
  const auto reduced = warpfold::reduce(MPI_COMM_WORLD, file, dataset, reduce_options);

  warpfold::ScanOptions scan_options;
  scan_options.output.path = output;
  scan_options.run.share_gpu = true;
  const auto scanned = warpfold::scan(MPI_COMM_WORLD, file, dataset, scan_options);

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank != 0 || results_are_right(reduced, scanned);
}

bool unknown_dataset_throws(const char* file) {
  try {
    warpfold::reduce(MPI_COMM_WORLD, file, "no such dataset");
  } catch (const warpfold::Error& error) {
    return error.exit_code() == warpfold::ExitCode::failed;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    if (use_library(argv[1], argv[2], argv[3]) && unknown_dataset_throws(argv[1])) status = 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  MPI_Finalize();
  return status;
}
