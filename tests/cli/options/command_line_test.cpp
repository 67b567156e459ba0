#include "cli/options/command_line.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/base/nearest_word.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

/// Returns the complaint about `words` of a program with the command `reduce`.
std::string complaint(const std::vector<std::string>& words) {
  CLI::App program("", "warpfold");
  program.require_subcommand(0, 1);
  std::string file;
  std::string colour;
  std::string where;
  CLI::App* reduce = program.add_subcommand("fold", "");
  program.add_subcommand("unfold", "");
  reduce->add_option("FILE", file)->required();
  reduce->add_option("--colour", colour);
  reduce->add_option("--where", where);
  try {
    parse_words(program, words);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(OptionError, NamesUnknownOptionsAndTheNearestKnown) {
  EXPECT_EQ(complaint({"fold", "x", "--color", "red"}),
            "unknown option --color. Did you mean --colour? See 'warpfold fold --help'.");
  EXPECT_EQ(complaint({"fold", "--color=red", "x"}),
            "unknown option --color. Did you mean --colour? See 'warpfold fold --help'.");
  EXPECT_EQ(complaint({"fold", "x", "--wavelength"}),
            "unknown option --wavelength. See 'warpfold fold --help'.");
  EXPECT_EQ(complaint({"--wavelength"}), "unknown option --wavelength. See 'warpfold --help'.");
}

TEST(OptionError, NamesUnknownCommandsAndTheNearestKnown) {
  EXPECT_EQ(complaint({"flod", "x"}),
            "unknown command 'flod'. Did you mean fold? Choose from fold, unfold.");
  EXPECT_EQ(complaint({"something"}), "unknown command 'something'. Choose from fold, unfold.");
}

TEST(OptionError, NamesWhatIsMissingOrTooMuch) {
  EXPECT_NE(complaint({"fold"}).find("FILE is required"), std::string::npos);
  EXPECT_EQ(complaint({"fold", "x", "--colour"}),
            "--colour takes one value. See 'warpfold fold --help'.");
  EXPECT_EQ(complaint({"fold", "x", "y"}), "unexpected argument 'y'. See 'warpfold fold --help'.");
  EXPECT_EQ(complaint({"fold", "x", "--colour", "red"}), "");
}

TEST(OptionError, TellsWhoseConditionTheShellTook) {
  EXPECT_EQ(complaint({"fold", "x", "--where"}),
            "--where takes one value. Quote conditions, as the shell takes > and < for itself: "
            "--where '>0'. See 'warpfold fold --help'.");
}

TEST(NearestWord, IsNoneWhereAllAreFar) {
  EXPECT_EQ(nearest_word("reduec", {"reduce", "scan"}), "reduce");
  EXPECT_EQ(nearest_word("scna", {"reduce", "scan"}), "scan");
  EXPECT_EQ(nearest_word("generate", {"reduce", "scan"}), "");
  EXPECT_EQ(nearest_word("x", {}), "");
}

}  // namespace
}  // namespace warpfold::cli
