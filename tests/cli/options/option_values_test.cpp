#include "cli/options/option_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace warpfold::cli {
namespace {

/// The message of the usage Error that `parse` throws.
std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(ParseSize, TakesBinarySuffixes) {
  EXPECT_EQ(parse_size("--slab", "1"), 1u);
  EXPECT_EQ(parse_size("--slab", "65536"), 65536u);
  EXPECT_EQ(parse_size("--slab", "64K"), 65536u);
  EXPECT_EQ(parse_size("--slab", "64k"), 65536u);
  EXPECT_EQ(parse_size("--slab", "16M"), 16u << 20);
  EXPECT_EQ(parse_size("--slab", "1G"), 1u << 30);
  EXPECT_EQ(parse_size("--slab", "3T"), std::uint64_t{3} << 40);
  EXPECT_EQ(parse_size("--slab", "18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_size("--slab", "16777215T"), ~std::uint64_t{0} << 40);
}

TEST(ParseSize, RefusesEverythingElse) {
  for (const std::string text :
       {"", "K", "0", "0M", "-1M", "+1M", "1.5G", "1 G", " 1G", "1GB", "1X", "big", "0x10",
        "18446744073709551616", "16777216T", "99999999999999999999G"}) {
    SCOPED_TRACE(text);
    const std::string message = refusal([&] { parse_size("--slab", text); });
    EXPECT_EQ(message.find("bad --slab '" + text + "'"), 0u) << message;
    EXPECT_NE(message.find("Try --slab 64K"), std::string::npos) << message;
  }
}

TEST(ParseAxes, TakesNumbersAndNamesBetweenCommas) {
  using Axes = std::vector<Axis>;
  EXPECT_EQ(parse_axes("--axis", "0"), Axes({0}));
  EXPECT_EQ(parse_axes("--axis", "-1"), Axes({-1}));
  EXPECT_EQ(parse_axes("--axis", "2,0,-3"), Axes({2, 0, -3}));
  EXPECT_EQ(parse_axes("--axis", "0, 1"), Axes({0, 1}));
  EXPECT_EQ(parse_axes("--axis", "time, -1,x 1"), Axes({"time", -1, "x 1"}));
  for (const std::string name : {"1.0", "+1", "0x1", "99999999999999999999"})
    EXPECT_EQ(parse_axes("--axis", name), Axes({name}));
}

TEST(ParseAxes, RefusesWhatIsEmpty) {
  for (const std::string text : {"", ",", "0,", "0, ", ",time"}) {
    SCOPED_TRACE(text);
    const std::string message = refusal([&] { parse_axes("--axis", text); });
    EXPECT_EQ(message.find("bad --axis '" + text + "'"), 0u) << message;
  }
}

TEST(ParseShape, TakesExtentsBetweenCommas) {
  using Shape = std::vector<std::uint64_t>;
  EXPECT_EQ(parse_shape("--shape", "1000"), Shape({1000}));
  EXPECT_EQ(parse_shape("--shape", "10,20,30"), Shape({10, 20, 30}));
  EXPECT_EQ(parse_shape("--shape", "0"), Shape({0}));
  EXPECT_EQ(parse_shape("--shape", "1073741824,1073741824"), Shape({1u << 30, 1u << 30}));
}

TEST(ParseShape, RefusesEverythingElse) {
  for (const std::string text : {"", ",", "3,", ",3", "3,,4", "3x4", "3xx", "-3", "3, 4", "3.0",
                                 "99999999999999999999", "1073741824,1073741825"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(refusal([&] { parse_shape("--shape", text); }).find("bad --shape '" + text + "'"),
              0u);
  }
}

TEST(ParseShape, HasAtMost32Extents) {
  std::string text = "1";
  for (int i = 1; i < 32; ++i) text += ",1";
  EXPECT_EQ(parse_shape("--shape", text).size(), 32u);
  refusal([&] { parse_shape("--shape", text + ",1"); });
}

TEST(ParseInteger, KeepsItsBounds) {
  EXPECT_EQ(parse_integer("--threads", "1", 1, 8), 1u);
  EXPECT_EQ(parse_integer("--threads", "8", 1, 8), 8u);
  for (const std::string text : {"0", "9", "-1", "", "two", "2.0", "99999999999999999999"}) {
    const std::string message = refusal([&] { parse_integer("--threads", text, 1, 8); });
    EXPECT_EQ(message, "bad --threads '" + text + "'. Give a whole number from 1 to 8.");
  }
}

TEST(ParseReal, TakesAnyDouble) {
  EXPECT_EQ(parse_real("--value", "1.23"), 1.23);
  EXPECT_EQ(parse_real("--value", "-2e10"), -2e10);
  EXPECT_EQ(parse_real("--value", "-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parse_real("--value", "nan")));
  EXPECT_EQ(parse_real("--value", "+1.5"), 1.5);
  EXPECT_EQ(parse_real("--value", "-0x1.8p3"), -12.0);
  EXPECT_EQ(parse_real("--value", "0X1p-1074"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(parse_real("--value", "-0")));
  for (const std::string text :
       {"", "x", "1.5x", "1,5", "1e999", "-", "--1", "+-1", "0x", "0x-1", "-0x+1", " 1"})
    refusal([&] { parse_real("--value", text); });
}

TEST(ParseOutputName, SplitsAtTheLastColon) {
  const auto parsed = [](const char* text) {
    const OutputName name = parse_output_name("-o", text);
    return name.file + "|" + name.dataset;
  };
  EXPECT_EQ(parsed("out.h5"), "out.h5|");
  EXPECT_EQ(parsed("out.h5:values"), "out.h5|values");
  EXPECT_EQ(parsed("out.h5:/group/values"), "out.h5|/group/values");
  EXPECT_EQ(parsed("12:30.h5:values"), "12:30.h5|values");
  EXPECT_EQ(parsed("12:30::a:b"), "12:30|a:b");
  EXPECT_EQ(parsed("a::b::c"), "a::b|c");
  for (const std::string text : {"", ":", "out.h5:", ":values", "out.h5::", "::values"})
    refusal([&] { parse_output_name("-o", text); });
}

TEST(ParseChoice, ListsTheChoices) {
  constexpr Choice<int> choices[] = {{"one", 1}, {"two", 2}};
  EXPECT_EQ(parse_choice("--number", "two", choices), 2);
  EXPECT_EQ(refusal([&] { parse_choice("--number", "three", choices); }),
            "bad --number 'three'. Choose from one, two.");
}

TEST(ParseOverflow, IsErrorOrWrap) {
  EXPECT_EQ(parse_choice("--overflow", "error", overflow_policies), OverflowPolicy::error);
  EXPECT_EQ(parse_choice("--overflow", "wrap", overflow_policies), OverflowPolicy::wrap);
  EXPECT_EQ(refusal([] { parse_choice("--overflow", "x", overflow_policies); }),
            "bad --overflow 'x'. Choose from error, wrap.");
}

TEST(PowersOf4, LieBetweenTheEndsThatAreGiven) {
  using Sizes = std::vector<std::uint64_t>;
  EXPECT_EQ(powers_of_4(1024, 65536), (Sizes{1024, 4096, 16384, 65536}));
  EXPECT_EQ(powers_of_4(1000, 5000), (Sizes{1000, 1024, 4096, 5000}));
  EXPECT_EQ(powers_of_4(7, 7), Sizes{7});
  EXPECT_EQ(powers_of_4(1, ~std::uint64_t{0}).size(), 33u);
}

TEST(ParseSizes, TakesListsAndRanges) {
  using Sizes = std::vector<std::uint64_t>;
  EXPECT_EQ(parse_sizes("--sizes", "1K"), Sizes{1024});
  EXPECT_EQ(parse_sizes("--sizes", "1M,1K,1M"), (Sizes{1024, 1 << 20}));
  EXPECT_EQ(parse_sizes("--sizes", "1K:16K"), (Sizes{1024, 4096, 16384}));
  EXPECT_EQ(parse_sizes("--sizes", "1000:5000"), (Sizes{1000, 1024, 4096, 5000}));
  EXPECT_EQ(parse_sizes("--sizes", "1K:1K"), Sizes{1024});
}

TEST(ParseSizes, RefusesEverythingElse) {
  for (const std::string text :
       {"", ",", "1K,", ":", "1K:", ":1K", "2K:1K", "1K:2K:3K", "0", "1.5K"})
    EXPECT_NE(refusal([&] { parse_sizes("--sizes", text); }), "") << text;
}

TEST(ParseNames, TakesLists) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parse_names("--types", "f32"), Names{"f32"});
  EXPECT_EQ(parse_names("--types", "u8:u64,f32"), (Names{"u8:u64", "f32"}));
  EXPECT_EQ(parse_names("--types", "u8, u64 ,f32"), (Names{"u8", "u64", "f32"}));
  for (const std::string text : {"", " ", ",", "a,", ",a", "a,,b", "a, ,b"})
    EXPECT_NE(refusal([&] { parse_names("--types", text); }), "") << text;
}

}  // namespace
}  // namespace warpfold::cli
