#include <CLI/CLI.hpp>
#include <exception>
#include <new>

#include "cli/commands/grammar.hpp"
#include "cli/commands/program.hpp"
#include "cli/options/command_line.hpp"
#include "cli/report/build_report.hpp"
#include "cli/report/report_file.hpp"
#include "cli/report/text.hpp"
#include "cli/run/interruption.hpp"
#include "cli/run/watched_run.hpp"
#include "io/files/external_files.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/placement.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold::cli {
namespace {

/// Makes "help COMMAND" what it means, where there is such a command: "COMMAND --help".
void take_help(std::vector<std::string>& words, CLI::App& application) {
  if (words.empty() || words.front() != "help") return;
  words.erase(words.begin());
  const auto is_named = [&](const CLI::App* command) { return command->check_name(words.front()); };
  if (words.empty() || !application.get_subcommands(is_named).empty()) words.emplace_back("--help");
}

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

void tell(const Session& session, const std::string& text) {
  if (session.is_root()) print(text);
}

void run(const Session& session, Measurer measurer) {
  Grammar grammar(measurer);
  CLI::App& application = grammar.application();
  std::vector<std::string> words(session.words.begin() + 1, session.words.end());
  take_help(words, application);
  try {
    parse_words(application, words);
  } catch (const CLI::CallForHelp&) {
    return tell(session, application.help());
  }
  if (grammar.asks_for_version()) return tell(session, "warpfold " + std::string(version()) + "\n");
  if (grammar.asks_for_config()) return session.is_root() ? print(config_text()) : void();
  pipeline::hide_other_gpus(mpi::Communicator(session.communicator));
  Command& command = grammar.chosen_command();
  const io::ExternalFilesRule rule(command.external());
  command.run(session);
}

int fail(const Session& session, const std::string& message, ExitCode code) {
  if (session.is_root()) print_remark("error: " + with_flags(message));
  return static_cast<int>(code);
}

}  // namespace

int run_application(MPI_Comm communicator, const std::vector<std::string>& arguments,
                    Measurer measurer) {
  const Session session = make_session(communicator, arguments);
  const InterruptionHandlers handlers;
  try {
    run(session, measurer);
    return static_cast<int>(ExitCode::done);
  } catch (const Error& error) {
    return fail(session, error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    const Error error("out of memory", "the host has no more for this rank",
                      "Use smaller slabs (--slab), fewer ranks per host or more memory.");
    return fail(session, error.what(), error.exit_code());
  } catch (const std::exception& unexpected) {
    const Error error("unexpected failure", unexpected.what(), "");
    return fail(session, error.what(), error.exit_code());
  }
}

}  // namespace warpfold::cli
