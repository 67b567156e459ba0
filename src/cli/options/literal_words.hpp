#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// CLI11 takes words in brackets for lists, and "{}" for an empty one. Words that begin so go past
/// it behind a mark, so that patterns and names mean what they say.
namespace warpfold::cli {

/// Returns a word as CLI11 is to be given it.
std::string marked(std::string word);

/// Returns the word of the command line that marked() had.
std::string unmarked(std::string word);

/// Lets all options of a command take their values without marks.
void take_unmarked(CLI::App& command);

}  // namespace warpfold::cli
