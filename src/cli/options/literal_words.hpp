#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/// CLI11 takes words in brackets for lists, and "{}" for an empty one. Words that begin so go past
/// it behind a mark, so that patterns and names mean what they say. It would also let an option
/// without a value have the option behind it.
namespace warpfold::cli {

/// Returns the words of a command line as CLI11 is to be given them.
std::vector<std::string> marked(const std::vector<std::string>& words);

/// Returns the word of the command line that marked() had.
std::string unmarked(std::string word);

/// Lets all options of a command take their values without marks, and refuse other options.
void take_unmarked(CLI::App& command);

}  // namespace warpfold::cli
