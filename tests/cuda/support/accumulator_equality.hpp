#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "core/results/accumulator.hpp"

namespace warpfold::cuda {

inline std::vector<std::int64_t> limbs_of(const auto& number) {
  return {std::begin(number.limb), std::end(number.limb)};
}

inline std::vector<std::uint64_t> fields_of(const Extremum& extremum) {
  return {extremum.key, extremum.index, extremum.bits};
}

inline void expect_equal(const Accumulator& one, const Accumulator& other,
                         const std::string& what) {
  EXPECT_EQ(one.count, other.count) << what;
  EXPECT_EQ(one.nan_count, other.nan_count) << what;
  EXPECT_EQ(one.positive_infinities, other.positive_infinities) << what;
  EXPECT_EQ(one.negative_infinities, other.negative_infinities) << what;
  EXPECT_EQ(limbs_of(one.sum), limbs_of(other.sum)) << what;
  EXPECT_EQ(limbs_of(one.absolute), limbs_of(other.absolute)) << what;
  EXPECT_EQ(limbs_of(one.squares), limbs_of(other.squares)) << what;
  EXPECT_EQ(fields_of(one.minimum), fields_of(other.minimum)) << what;
  EXPECT_EQ(fields_of(one.maximum), fields_of(other.maximum)) << what;
  EXPECT_EQ(one.first_nan, other.first_nan) << what;
}

}  // namespace warpfold::cuda
