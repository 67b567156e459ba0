#include "cli/manual/command_table.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/manual/manual.hpp"

namespace warpfold::cli {
namespace {

using Words = std::vector<std::string>;

TEST(ValueWords, AreTheLowerCaseOnes) {
  EXPECT_EQ(value_words("auto|VALUE|none").words, (Words{"auto", "none"}));
  EXPECT_EQ(value_words("i8|bf16").words, (Words{"i8", "bf16"}));
  EXPECT_EQ(value_words("N,...|auto").words, Words{"auto"});
  EXPECT_EQ(value_words("LEAST:GREATEST|SIZE,...").words, Words{});
  EXPECT_EQ(value_words("cos:DIMENSION").words, Words{});
}

TEST(ValueWords, KnowListsAndFiles) {
  EXPECT_TRUE(value_words("sum|mean,...").list);
  EXPECT_EQ(value_words("sum|mean,...").words, (Words{"sum", "mean"}));
  EXPECT_FALSE(value_words("N,...|auto").list);
  for (const char* type : {"FILE", "OUT[:DATASET]", "[FILE::]DATASET|year"})
    EXPECT_TRUE(value_words(type).file) << type;
  EXPECT_FALSE(value_words("DATASET").file);
}

/// A program whose texts have what roff and shells could take for something else.
class ManualTest : public ::testing::Test {
 protected:
  ManualTest() : program_("Does it all", "tool") {
    program_.footer("tool fold 'a b'");
    CLI::App* fold = program_.add_subcommand("fold", "Fold what's given");
    fold->add_option("FILE", file_, "A file")->required()->type_name("");
    fold->add_option("-c,--colour", colour_, "What's shown: [a]; red isn't. 'x' \\ -y")
        ->type_name("red|blue");
    fold->add_flag("--quiet", quiet_, "No words")->group("Words");
    fold->footer(".first line\ntool fold x");
  }

  CommandTable table() const { return command_table(program_); }

  CLI::App program_;
  std::string file_;
  std::string colour_;
  bool quiet_ = false;
};

TEST_F(ManualTest, TableIsWhatParses) {
  const CommandTable fold = table().commands.at(0);
  EXPECT_EQ(fold.name, "tool fold");
  EXPECT_EQ(usage_text(fold), "tool fold [OPTIONS] FILE");
  ASSERT_EQ(fold.groups.size(), 2U);
  EXPECT_EQ(fold.groups[1].title, "Words");
  const TableEntry& colour = fold.groups[0].options.at(1);
  EXPECT_EQ(colour.names, (Words{"-c", "--colour"}));
  EXPECT_EQ(colour.value, "red|blue");
  EXPECT_EQ(colour.summary(), "What's shown: [a]");
  EXPECT_TRUE(fold.groups[1].options.at(0).is_flag());
  EXPECT_EQ(fold.examples, (Words{".first line", "tool fold x"}));
}

TEST_F(ManualTest, HelpEndsWithExamples) {
  const std::string help = help_text(table().commands.at(0));
  EXPECT_TRUE(help.ends_with("Examples:\n  .first line\n  tool fold x\n")) << help;
  EXPECT_NE(help.find("\n  -c,--colour red|blue      What's shown: [a]\n"), std::string::npos);
}

TEST_F(ManualTest, PagesShowLettersThatRoffWouldTake) {
  const std::string page = man_page(table(), table().commands.at(0), "1.2.3", "2026-01-02");
  EXPECT_TRUE(page.starts_with(".TH TOOL\\-FOLD 1 2026-01-02 \"warpfold 1.2.3\"\n"));
  EXPECT_NE(page.find("\n\\&.first line\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\\(aqx\\(aq \\e \\-y."), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-c\\fR, \\fB\\-\\-colour\\fR \\fIred|blue\\fR\n"), std::string::npos);
}

TEST_F(ManualTest, CompletionsAreWhatParses) {
  const auto answer = [&](const Words& words) { return completions(table(), words); };
  const std::string colour = "--colour\tWhat's shown: [a]\n";
  EXPECT_TRUE(answer({""}).starts_with("fold\tFold what's given\n-h\t")) << answer({""});
  EXPECT_EQ(answer({"fold", "--co"}), colour + ":4\n");
  EXPECT_EQ(answer({"fold", "-c", "red", "--co"}), ":4\n");
  EXPECT_EQ(answer({"fold", ""}), ":0\n");
  EXPECT_EQ(answer({"fold", "-c", ""}), "red\nblue\n:4\n");
  EXPECT_EQ(answer({"fold", "--colour=b"}), "--colour=blue\n:4\n");
  EXPECT_EQ(answer({"fold", "--colour", "="}), "red\nblue\n:4\n");
  EXPECT_EQ(answer({"bend", ""}), ":4\n");
}

}  // namespace
}  // namespace warpfold::cli
