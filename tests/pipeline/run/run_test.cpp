#include "pipeline/run/run.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

TEST(SlabBytes, ToBeChosenOrFourKibibytesToOneGibibyte) {
  EXPECT_NO_THROW(check_slab_bytes(0));
  EXPECT_NO_THROW(check_slab_bytes(4096));
  EXPECT_NO_THROW(check_slab_bytes(std::uint64_t{1} << 30));
  EXPECT_THROW(check_slab_bytes(4095), Error);
  EXPECT_THROW(check_slab_bytes((std::uint64_t{1} << 30) + 1), Error);
}

}  // namespace
}  // namespace warpfold::pipeline
