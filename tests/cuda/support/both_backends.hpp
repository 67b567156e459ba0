#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/engine/backend.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/support/gpu_test.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Tests that hold the GPU's results beside the host's; skipped where there is no GPU.
template <class Test>
class BothBackendsOf : public Test {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
    gpu_ = make_backend({});
    cpu_ = cpu::make_backend(2);
  }

  std::unique_ptr<Backend> gpu_;
  std::unique_ptr<Backend> cpu_;
};

/// Such tests for each element type.
using BothBackends = BothBackendsOf<::testing::TestWithParam<ElementType>>;

}  // namespace warpfold::cuda
