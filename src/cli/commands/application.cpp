#include "cli/commands/application.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "cli/commands/command.hpp"
#include "cli/options/command_line.hpp"
#include "cli/report/build_report.hpp"
#include "cli/report/report_file.hpp"
#include "cli/report/text.hpp"
#include "cli/run/interruption.hpp"
#include "cli/run/watched_run.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::cli {
namespace {

Session make_session(MPI_Comm communicator, const std::vector<std::string>& arguments) {
  Session session;
  session.communicator = communicator;
  const mpi::Communicator ranks(communicator);
  session.rank = ranks.rank();
  session.ranks = ranks.size();
  session.words = {"warpfold"};
  session.words.insert(session.words.end(), arguments.begin(), arguments.end());
  return session;
}

/// The program has a command line's grammar, and the commands it can choose.
class Program {
 public:
  Program() : grammar_("Exact reductions and prefix scans of large HDF5 datasets", "warpfold") {
    grammar_.require_subcommand(0, 1);
    grammar_.add_flag("--version", version_, "Print the version");
    grammar_.add_flag("--config", config_, "Print what the program was built with and runs on");
    commands_.push_back(make_reduce_command(grammar_));
    commands_.push_back(make_scan_command(grammar_));
    commands_.push_back(make_histogram_command(grammar_));
    commands_.push_back(make_compact_command(grammar_));
    commands_.push_back(make_info_command(grammar_));
    commands_.push_back(make_generate_command(grammar_));
    commands_.push_back(make_bench_command(grammar_));
    commands_.push_back(make_ladder_command(grammar_));
  }

  void run(const Session& session) {
    try {
      parse_words(grammar_, {session.words.begin() + 1, session.words.end()});
    } catch (const CLI::CallForHelp&) {
      return tell(session, grammar_.help());
    }
    if (version_) return tell(session, "warpfold " + std::string(version()) + "\n");
    if (config_) return session.is_root() ? print(config_text()) : void();
    chosen_command().run(session);
  }

 private:
  static void tell(const Session& session, const std::string& text) {
    if (session.is_root()) print(text);
  }

  Command& chosen_command() {
    const auto chosen = std::find_if(commands_.begin(), commands_.end(),
                                     [](const auto& command) { return command->chosen(); });
    if (chosen == commands_.end())
      throw usage_error("no command is given", "", "See 'warpfold --help'.");
    return **chosen;
  }

  CLI::App grammar_;
  bool version_ = false;
  bool config_ = false;
  std::vector<std::unique_ptr<Command>> commands_;
};

int fail(const Session& session, const std::string& message, ExitCode code) {
  if (session.is_root()) print_remark("error: " + with_flags(message));
  return static_cast<int>(code);
}

}  // namespace

int run_application(MPI_Comm communicator, const std::vector<std::string>& arguments) {
  const Session session = make_session(communicator, arguments);
  const InterruptionHandlers handlers;
  try {
    Program program;
    program.run(session);
    return static_cast<int>(ExitCode::done);
  } catch (const Error& error) {
    return fail(session, error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    const Error error("out of memory", "the host has no more for this rank",
                      "Use smaller slabs (--slab), fewer ranks a host or more memory.");
    return fail(session, error.what(), error.exit_code());
  } catch (const std::exception& unexpected) {
    const Error error("unexpected failure", unexpected.what(), "");
    return fail(session, error.what(), error.exit_code());
  }
}

}  // namespace warpfold::cli
