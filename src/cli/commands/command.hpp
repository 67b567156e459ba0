#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "cli/options/common_options.hpp"
#include "cli/run/measuring_program.hpp"
#include "cli/run/watched_run.hpp"

namespace warpfold::cli {

/// A command of the program has its options, and does something with them.
class Command {
 public:
  virtual ~Command() = default;

  /// Does what the command is for. Collective over the session's communicator. Throws Error.
  virtual void run(const Session& session) = 0;

  /// Returns which files beside the named ones may be read.
  virtual ExternalFiles external() const { return ExternalFiles::any; }

  bool chosen() const { return application_->parsed(); }

 protected:
  Command(CLI::App& program, const char* name, const char* description)
      : application_(program.add_subcommand(name, description)->group("Commands")) {}

  CLI::App& application() { return *application_; }

  CLI::Option* add(const char* name, auto&&... of) {
    return add_option(*application_, name, std::forward<decltype(of)>(of)...);
  }

  CLI::Option* add_argument(const char* name, std::string& text, const char* help) {
    return application_->add_option(name, text, help)->type_name("");
  }

  /// Has the help end with these command lines, a line each.
  void show_examples(const char* lines) { application_->footer(lines); }

 private:
  CLI::App* application_;
};

std::unique_ptr<Command> make_reduce_command(CLI::App& program);
std::unique_ptr<Command> make_scan_command(CLI::App& program);
std::unique_ptr<Command> make_histogram_command(CLI::App& program);
std::unique_ptr<Command> make_compact_command(CLI::App& program);
std::unique_ptr<Command> make_info_command(CLI::App& program);
std::unique_ptr<Command> make_generate_command(CLI::App& program);
std::unique_ptr<Command> make_bench_command(CLI::App& program, Measurer measurer);
std::unique_ptr<Command> make_ladder_command(CLI::App& program, Measurer measurer);

}  // namespace warpfold::cli
