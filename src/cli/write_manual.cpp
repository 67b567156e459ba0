#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/commands/grammar.hpp"
#include "cli/manual/manual.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/version.hpp"

/// Writes the program's manual pages, as they lie below share/ of an installation:
/// write_manual FOLDER DATE
namespace {

using warpfold::cli::CommandTable;
namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw warpfold::Error("cannot write '" + path.string() + "'", "", "");
}

void write_page(const fs::path& folder, const CommandTable& program, const CommandTable& command,
                const std::string& date) {
  const bool is_program = &program == &command;
  const std::string name = program.name + (is_program ? "" : "-" + command.last_name());
  write(folder / "man" / "man1" / (name + ".1"),
        man_page(program, command, std::string(warpfold::version()), date));
}

void write_manual(const fs::path& folder, const std::string& date) {
  warpfold::cli::Grammar grammar;
  const CommandTable program = warpfold::cli::command_table(grammar.application());
  write_page(folder, program, program, date);
  for (const CommandTable& command : program.commands) write_page(folder, program, command, date);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    write_manual(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "write_manual: %s\n", failure.what());
    return 1;
  }
}
