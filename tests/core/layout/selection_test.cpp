#include "core/layout/selection.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using Shape = std::vector<std::uint64_t>;

Slice all(std::uint64_t extent) { return {0, extent, 1, false}; }
Slice index(std::uint64_t at) { return {at, 1, 1, true}; }

/// Results of NumPy's slice(...).indices() and index arithmetic.
TEST(Selection, OfOneDimensionIsNumpys) {
  struct Case {
    const char* text;
    Slice slice;
  };
  const Case cases[] = {
      {"", all(10)},
      {"...", all(10)},
      {":", all(10)},
      {"::", all(10)},
      {"2:7", {2, 5, 1, false}},
      {" 2 : 7 ", {2, 5, 1, false}},
      {"-3:", {7, 3, 1, false}},
      {":-3", {0, 7, 1, false}},
      {"-99:99", all(10)},
      {"-99:-99", {0, 0, 1, false}},
      {"7:2", {0, 0, 1, false}},
      {"10:", {0, 0, 1, false}},
      {"::2", {0, 5, 2, false}},
      {"1::2", {1, 5, 2, false}},
      {"::3", {0, 4, 3, false}},
      {"1:8:3", {1, 3, 3, false}},
      {"1:7:3", {1, 2, 3, false}},
      {"4:5:3", {4, 1, 1, false}},
      {"::99", {0, 1, 1, false}},
      {"::9223372036854775808", {0, 1, 1, false}},
      {":99999999999999999999999", all(10)},
      {"-99999999999999999999999:", all(10)},
      {"0", index(0)},
      {"9", index(9)},
      {"+9", index(9)},
      {"-1", index(9)},
      {"-10", index(0)},
      {"3,", index(3)},
      {"3, ...", index(3)},
      {"..., 3", index(3)},
  };
  for (const Case& each : cases)
    EXPECT_EQ(parse_selection(each.text, Shape{10}), Selection{each.slice}) << each.text;
}

TEST(Selection, OfSeveralDimensionsMayLeaveSomeOut) {
  const Shape shape{4, 5, 6};
  EXPECT_EQ(parse_selection("1", shape), (Selection{index(1), all(5), all(6)}));
  EXPECT_EQ(parse_selection("1, :", shape), (Selection{index(1), all(5), all(6)}));
  EXPECT_EQ(parse_selection("..., 1", shape), (Selection{all(4), all(5), index(1)}));
  EXPECT_EQ(parse_selection("1, ..., 2:4", shape), (Selection{index(1), all(5), {2, 2, 1, false}}));
  EXPECT_EQ(parse_selection("1, 2, ..., 3", shape), (Selection{index(1), index(2), index(3)}));
  EXPECT_EQ(parse_selection("1,2,3", shape), (Selection{index(1), index(2), index(3)}));
  EXPECT_EQ(parse_selection("...", Shape{}), Selection{});
}

TEST(Selection, HasAShape) {
  const Shape shape{4, 5, 6};
  EXPECT_EQ(selected_shape(parse_selection("1, ::2", shape)), (Shape{3, 6}));
  EXPECT_EQ(selected_shape(parse_selection("1, 2, 3", shape)), Shape{});
  EXPECT_EQ(selected_shape(parse_selection("3:2", shape)), (Shape{0, 5, 6}));
  EXPECT_TRUE(takes_everything(parse_selection(":, 0:5", shape), shape));
  EXPECT_FALSE(takes_everything(parse_selection(":, 0:4", shape), shape));
  EXPECT_FALSE(takes_everything(parse_selection("0", Shape{1, 5}), Shape{1, 5}));
}

TEST(Selection, SaysWhatIsWrong) {
  struct Case {
    const char* text;
    const char* part;
  };
  const Case cases[] = {{"::-1", "step"},          {"::0", "step"},
                        {"10", "out of bounds"},   {"-11", "out of bounds"},
                        {"1, 2", "2 indices"},     {"..., ...", "more than one"},
                        {"None", "dimension"},     {"np.newaxis", "dimension"},
                        {"[1, 2]", "lists"},       {"x", "neither"},
                        {"1:x", "neither"},        {"1.5", "neither"},
                        {"1:2:3:4", "two colons"}, {",", "missing"},
                        {"True", "neither"}};
  for (const Case& each : cases) {
    const Error error =
        testing::usage_error_of([&] { (void)parse_selection(each.text, Shape{10}); });
    EXPECT_NE(std::string(error.what()).find(each.part), std::string::npos)
        << each.text << ": " << error.what();
  }
}

TEST(NamedSlices, AreTakenApart) {
  using Slices = std::vector<NamedSlice>;
  EXPECT_EQ(named_slices("1:2, ..., 3"), Slices{});
  EXPECT_EQ(named_slices(""), Slices{});
  EXPECT_EQ(named_slices("time=10:20"), (Slices{{"time", "10:20"}}));
  EXPECT_EQ(named_slices(" lat = -30.0:30.0 , a=b=:: ,"),
            (Slices{{"lat", "-30.0:30.0"}, {"a=b", "::"}}));
  for (const char* text : {"x=1, 2", "x=1, ...", "x=", "x=...", "x=1, x=2", "x=1,, y=2", "x=[1]"})
    EXPECT_THROW((void)named_slices(text), Error) << text;
}

TEST(NamedSlices, MakeASelection) {
  const std::vector<std::string> slices{"1", ":", "::2"};
  EXPECT_EQ(parse_selection("what the user wrote", slices, Shape{4, 5, 6}),
            (Selection{index(1), all(5), {0, 3, 2, false}}));
  const std::vector<std::string> beyond{":", "5", ":"};
  const Error error = testing::usage_error_of([&] {
    (void)parse_selection("what the user wrote", beyond, Shape{4, 5, 6});
  });
  EXPECT_NE(std::string(error.what()).find("what the user wrote"), std::string::npos);
}

}  // namespace
}  // namespace warpfold
