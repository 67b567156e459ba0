#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu::testing {

/// Tests of each element type by each instruction set.
using EveryTypeByKernels = ::testing::TestWithParam<std::tuple<ElementType, const Kernels*>>;

inline std::string kernels_name(const Kernels* kernels) {
  std::string name = kernels->name;
  std::erase(name, '-');
  return name;
}

inline std::string type_and_kernels(
    const ::testing::TestParamInfo<EveryTypeByKernels::ParamType>& info) {
  return std::string(name_of(std::get<0>(info.param))) + kernels_name(std::get<1>(info.param));
}

inline auto every_type_by_kernels() {
  return ::testing::Combine(::testing::ValuesIn(all_element_types),
                            ::testing::ValuesIn(available_kernels()));
}

}  // namespace warpfold::cpu::testing
