#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options/command_line.hpp"
#include "cli/options/common_options.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// A parsed request is what the words of a command line ask for; the second word is the command.
template <class Request>
class ParsedRequest {
 public:
  /// Throws a usage Error for words that the command doesn't allow.
  explicit ParsedRequest(const std::vector<std::string>& words)
      : command_(*program_.add_subcommand(words.at(1))) {
    add_run_options(command_, run);
    parse_words(program_, {words.begin() + 1, words.end()});
  }

 private:
  CLI::App program_{"", "warpfold"};
  CLI::App& command_;

 public:
  Request request{command_};
  RunOptions run;
};

}  // namespace warpfold::cli
