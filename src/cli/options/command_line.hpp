#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warpfold::cli {

/// Has a grammar, once all its commands are added, take the words of a command line without the
/// program's name. Throws a usage Error for words that it doesn't allow, CLI::CallForHelp where one
/// asks for help.
void parse_words(CLI::App& grammar, const std::vector<std::string>& words);

}  // namespace warpfold::cli
