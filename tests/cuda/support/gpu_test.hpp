#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cuda/engines/backend.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Why tests that need a GPU can't run; empty where they can.
inline std::string missing_gpu() {
  return visible_devices().empty() ? "no device to test on: " + unavailable_reason() : "";
}

/// Whether the GPU is the host's, at about a million elements a second.
inline bool is_emulated() { return visible_devices().front().name == "emulated GPU"; }

/// Tests that need a GPU; skipped elsewhere.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

using Integers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                  std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// The name of a test for each element type.
inline std::string type_name(const ::testing::TestParamInfo<ElementType>& info) {
  return std::string(name_of(info.param));
}

inline std::unique_ptr<Backend> make_backend_with(std::uint64_t memory_bytes) {
  DeviceOptions options;
  options.memory_bytes = memory_bytes;
  return make_backend(options);
}

}  // namespace warpfold::cuda
