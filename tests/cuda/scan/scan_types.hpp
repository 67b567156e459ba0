#pragma once

#include <gtest/gtest.h>

#include <string>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

namespace warpfold::cuda {

struct ScanTypes {
  ElementType input;
  ElementType output;
  ScanOperation operation;
};

/// The name of a test for each operation and its types.
inline std::string types_name(const ::testing::TestParamInfo<ScanTypes>& info) {
  const ScanTypes& types = info.param;
  return std::string(name_of(types.operation)) + "_" + std::string(name_of(types.input)) + "_" +
         std::string(name_of(types.output));
}

}  // namespace warpfold::cuda
