#include "cli/report/json_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace warpfold::cli {
namespace {

std::string text_of(const Json& value) {
  const std::string text = json_text(value);
  EXPECT_EQ(text.back(), '\n');
  return text.substr(0, text.size() - 1);
}

TEST(JsonWriter, DoublesAreTheShortestThatRoundTrip) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(6.5), "6.5");
  EXPECT_EQ(text_of(-1.0), "-1.0");
  EXPECT_EQ(text_of(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text_of(1e300), "1e+300");
  EXPECT_EQ(text_of(std::numeric_limits<double>::denorm_min()), "5e-324");
  for (const double value : {0x1.23456789abcdfp-1022, 0x1.fffffffffffffp1023, 1e22, 123456789.25})
    EXPECT_EQ(std::stod(text_of(value)), value);
}

TEST(JsonWriter, ZerosKeepTheirSign) {
  EXPECT_EQ(text_of(0.0), "0.0");
  EXPECT_EQ(text_of(-0.0), "-0.0");
}

TEST(JsonWriter, DoublesHaveAPointOrAnExponent) {
  EXPECT_EQ(text_of(7.0), "7.0");
  EXPECT_EQ(text_of(1e16), "1e+16");
  EXPECT_EQ(text_of(7), "7");
}

TEST(JsonWriter, NonFiniteDoublesAreNullAndNamedInTheEnd) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Json document;
  document["sum"] = -infinity;
  document["a/b~c"] = {{"edges", {1.5, infinity, -nan}}};
  document["none"] = nullptr;
  EXPECT_EQ(json_text(document),
            "{\n"
            "  \"sum\": null,\n"
            "  \"a/b~c\": {\n"
            "    \"edges\": [1.5, null, null]\n"
            "  },\n"
            "  \"none\": null,\n"
            "  \"not_finite\": {\n"
            "    \"/sum\": \"-inf\",\n"
            "    \"/a~1b~0c/edges/1\": \"inf\",\n"
            "    \"/a~1b~0c/edges/2\": \"nan\"\n"
            "  }\n"
            "}\n");
  const Json written = Json::parse(json_text(document));
  for (const auto& [pointer, what] : written["not_finite"].items())
    EXPECT_TRUE(written[Json::json_pointer(pointer)].is_null()) << what;
}

TEST(JsonWriter, IntegersHaveAllTheirDigits) {
  const int128 limit = int128{1} << 53;
  EXPECT_EQ(text_of(json_integer(0)), "0");
  EXPECT_EQ(text_of(json_integer(limit)), "9007199254740992");
  EXPECT_EQ(text_of(json_integer(-limit)), "-9007199254740992");
  EXPECT_EQ(text_of(json_integer(limit + 1)), "9007199254740993");
  EXPECT_EQ(text_of(json_integer(-limit - 1)), "-9007199254740993");
  EXPECT_EQ(text_of(json_integer(int128{1} << 100)), "1267650600228229401496703205376");
}

TEST(JsonWriter, ValuesAreNullDoublesOrIntegers) {
  EXPECT_EQ(text_of(json_value({})), "null");
  EXPECT_EQ(text_of(json_value(2.5)), "2.5");
  EXPECT_EQ(text_of(json_value(int128{-7})), "-7");
  EXPECT_EQ(text_of(json_value(int128{1} << 63)), "9223372036854775808");
}

TEST(JsonWriter, ObjectsTakeLinesAndKeepTheirOrder) {
  Json document;
  document["z"] = 1;
  document["a"] = {1, 2, 3};
  document["nothing"] = Json::object();
  document["none"] = Json::array();
  document["inner"] = {{"b", true}, {"a", nullptr}};
  EXPECT_EQ(json_text(document),
            "{\n"
            "  \"z\": 1,\n"
            "  \"a\": [1, 2, 3],\n"
            "  \"nothing\": {},\n"
            "  \"none\": [],\n"
            "  \"inner\": {\n"
            "    \"b\": true,\n"
            "    \"a\": null\n"
            "  }\n"
            "}\n");
}

TEST(JsonWriter, ArraysOfObjectsTakeLines) {
  Json document = Json::array();
  document.push_back({{"name", "t"}});
  document.push_back(Json::array({1.5}));
  EXPECT_EQ(json_text(document),
            "[\n"
            "  {\n"
            "    \"name\": \"t\"\n"
            "  },\n"
            "  [1.5]\n"
            "]\n");
}

TEST(JsonWriter, StringsAreEscaped) {
  EXPECT_EQ(text_of("a \"b\"\n\\ \x01 é"), "\"a \\\"b\\\"\\n\\\\ \\u0001 é\"");
  EXPECT_EQ(text_of("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(JsonWriter, WhatItWritesParsesToTheSame) {
  Json document;
  document["results"] = {{"count", 3}, {"sum", 6.5}, {"name", "x\ty"}, {"list", {1, 2.5, "three"}}};
  EXPECT_EQ(Json::parse(json_text(document)), document);
}

TEST(JsonWriter, ElementsAreWrittenAsTheyAreMade) {
  const std::string long_text(300'000, 'x');
  const auto make = [&](std::size_t index) {
    return Json{{"name", long_text}, {"value", index == 5 ? NAN : 0.5}};
  };
  Json document{{"datasets", Json::array()}, {"arguments", {"reduce"}}};
  std::size_t made = 0;
  std::string parts;
  const auto make_and_count = [&](std::size_t index) {
    EXPECT_EQ(index, made++);
    return make(index);
  };
  write_json(document, {"datasets", 10, make_and_count}, [&](std::string_view part) {
    EXPECT_LT(part.size(), 1'500'000u);
    parts += part;
  });
  for (std::size_t i = 0; i < 10; ++i) document["datasets"].push_back(make(i));
  EXPECT_EQ(parts, json_text(document));
}

}  // namespace
}  // namespace warpfold::cli
