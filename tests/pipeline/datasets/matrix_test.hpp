#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/generate.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Has a file of all ranks: the elements of a matrix are numbered, from 0.
class MatrixTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t rows = 300;
  static constexpr std::uint64_t columns = 400;

  explicit MatrixTest(std::string name) : name_(std::move(name)) {
    GenerateOptions options;
    options.kind = GeneratorKind::iota;
    options.format.type = ElementType::i64;
    options.shape = {rows, columns};
    options.storage.chunk_shape = {10, 20};
    options.output = {file("in"), "values", true, {}};
    generate(MPI_COMM_WORLD, options);
  }

  ~MatrixTest() override {
    if (!world_.is_root()) return;
    std::remove(file("in").c_str());
    std::remove(file("out").c_str());
  }

  std::string file(const std::string& which) const {
    return ::testing::TempDir() + name_ + "_" + which + std::to_string(world_.size()) + ".h5";
  }

  DatasetView view() const { return {{}, open_everywhere(file("in"), "values", world_)}; }

  /// Returns what has two threads go through many slabs.
  static RunOptions two_threads() {
    RunOptions options;
    options.backend = BackendChoice::cpu;
    options.threads = 2;
    options.slab_bytes = 16384;
    return options;
  }

  mpi::Communicator world_{MPI_COMM_WORLD};

 private:
  std::string name_;
};

}  // namespace warpfold::pipeline
