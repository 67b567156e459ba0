#include "cli/report/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace warpfold::cli {
namespace {

TEST(Text, Values) {
  EXPECT_EQ(to_text(Value()), "none");
  EXPECT_EQ(to_text(Value(0.1)), "0.1");
  EXPECT_EQ(to_text(Value(-0.0)), "-0.0");
  EXPECT_EQ(to_text(Value(-std::numeric_limits<double>::quiet_NaN())), "nan");
  EXPECT_EQ(to_text(Value(int128{1} << 64)), "18446744073709551616");
}

TEST(Text, Bytes) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(3u << 19), "1.50 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{1} << 40), "1.00 TiB");
  EXPECT_EQ(bytes_text(~std::uint64_t{0}), "16.00 EiB");
}

TEST(Text, Shapes) {
  EXPECT_EQ(shape_text({}), "scalar");
  EXPECT_EQ(shape_text({5}), "5");
  EXPECT_EQ(shape_text({10, 20, 30}), "10 x 20 x 30");
  EXPECT_EQ(extent_text({}), "scalar");
  EXPECT_EQ(extent_text({5}), "5 elements");
}

TEST(Text, Formats) {
  EXPECT_EQ(format_text({ElementType::f32, ByteOrder::big}), "f32 big-endian");
  EXPECT_EQ(format_text({ElementType::u8, ByteOrder::big}), "u8");
}

TEST(Text, RanksAndDevices) {
  EXPECT_EQ(ranks_text(1, 1), "1 rank on 1 host");
  EXPECT_EQ(ranks_text(4, 2), "4 ranks on 2 hosts");
  EXPECT_EQ(devices_text({"NVIDIA H200"}), "NVIDIA H200");
  EXPECT_EQ(devices_text({"NVIDIA H200", "2 threads", "NVIDIA H200"}),
            "2 x NVIDIA H200 and 2 threads");
}

TEST(Text, ShellQuoting) {
  EXPECT_EQ(shell_quoted({"warpfold", "scan", "a b.h5", "it's", "", "-o", "out.h5:/x"}),
            "warpfold scan 'a b.h5' 'it'\\''s' '' -o out.h5:/x");
}

TEST(WithFlags, WordsMembersOfOptions) {
  EXPECT_EQ(with_flags("Choose `output_type` f64, or `overflow` wrap."),
            "Choose --output-type f64, or --overflow wrap.");
  EXPECT_EQ(with_flags("`slab_bytes`, `slab_bytes` and `edges`"),
            "--slab, --slab and --bins edges");
  EXPECT_EQ(with_flags("where 'a`b' is, `what` and `where"), "where 'a`b' is, `what` and `where");
}

TEST(AlignedText, PadsColumns) {
  EXPECT_EQ(aligned_text({{"op", "value"}, {"argmin", "3"}, {"é", "4"}, {"alone"}}),
            "op      value\n"
            "argmin  3\n"
            "é       4\n"
            "alone\n");
  EXPECT_EQ(aligned_text({{"a", "", "c"}, {"long", "b", ""}}),
            "a        c\n"
            "long  b\n");
  EXPECT_EQ(aligned_text({}), "");
}

TEST(CsvText, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_text({{"a", "b c", "d,e"}, {"say \"hi\"", "two\nlines", ""}}),
            "a,b c,\"d,e\"\n"
            "\"say \"\"hi\"\"\",\"two\nlines\",\n");
}

}  // namespace
}  // namespace warpfold::cli
