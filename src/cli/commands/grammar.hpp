#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "cli/commands/command.hpp"

namespace warpfold::cli {

/// The program's grammar is what its command line may have: options, and commands with theirs.
class Grammar {
 public:
  /// `measurer` runs `bench` and `ladder`, which fail without one on any rank.
  explicit Grammar(Measurer measurer = nullptr);

  CLI::App& application() { return application_; }

  bool asks_for_version() const { return version_; }
  bool asks_for_config() const { return config_; }

  /// Returns the command of what was parsed. Throws a usage Error where it has none.
  Command& chosen_command();

 private:
  CLI::App application_;
  bool version_ = false;
  bool config_ = false;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace warpfold::cli
