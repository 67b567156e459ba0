#pragma once

#include <string>
#include <vector>

#include "cli/manual/command_table.hpp"

namespace warpfold::cli {

/// Returns what may stand for the last of the words after a program's name: lines of a word, or of
/// a word, a tab and what it means. The last line is a colon and a sum: 2 where a value of the same
/// list may follow a word, 4 where no file may stand here. Programs made with cobra answer so, too.
std::string completions(const CommandTable& program, std::vector<std::string> words);

}  // namespace warpfold::cli
