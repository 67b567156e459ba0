#include "core/scan/scan_spec.hpp"

#include <gtest/gtest.h>

#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using testing::usage_error_of;

constexpr ScanOperation operations[] = {ScanOperation::sum, ScanOperation::min, ScanOperation::max};

TEST(ScanOperation, NamesParseBack) {
  EXPECT_EQ(name_of(ScanOperation::sum), "sum");
  EXPECT_EQ(name_of(ScanOperation::min), "min");
  EXPECT_EQ(name_of(ScanOperation::max), "max");
  for (const ScanOperation operation : operations)
    EXPECT_EQ(parse_scan_operation(name_of(operation)), operation);
}

TEST(ScanOperation, UnknownNamesListTheKnownOnes) {
  const Error error = usage_error_of([] { parse_scan_operation("mean"); });
  EXPECT_EQ(error.problem(), "unknown scan operation 'mean'");
  EXPECT_EQ(error.suggestion(), "Choose from sum, min, max.");
}

TEST(ScanOutput, SumsOfIntegersWidenTo64Bits) {
  for (const auto type : {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64})
    EXPECT_EQ(default_scan_output(type, ScanOperation::sum), ElementType::i64);
  for (const auto type : {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64})
    EXPECT_EQ(default_scan_output(type, ScanOperation::sum), ElementType::u64);
}

TEST(ScanOutput, EverythingElseKeepsItsType) {
  for (const auto type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
    EXPECT_EQ(default_scan_output(type, ScanOperation::sum), type);
  for (const ElementType type : all_element_types) {
    EXPECT_EQ(default_scan_output(type, ScanOperation::min), type);
    EXPECT_EQ(default_scan_output(type, ScanOperation::max), type);
  }
}

TEST(ScanSpec, OnlyFloatsIntoIntegersAreRefused) {
  for (const ScanOperation operation : operations)
    for (const ElementType input : all_element_types)
      for (const ElementType output : all_element_types) {
        ScanSpec spec;
        spec.input.type = input;
        spec.operation = operation;
        spec.output = output;
        if (is_floating(input) && is_integer(output))
          usage_error_of([&] { validate(spec); });
        else
          EXPECT_NO_THROW(validate(spec));
      }
}

TEST(ScanSpec, RefusalNamesBothTypes) {
  ScanSpec spec;
  spec.input.type = ElementType::bf16;
  spec.output = ElementType::u16;
  EXPECT_EQ(usage_error_of([&] { validate(spec); }).problem(),
            "a scan of bf16 cannot be written as u16");
}

}  // namespace
}  // namespace warpfold
