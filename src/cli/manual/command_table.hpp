#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/// Descriptions of the parsed options, for help, manual pages and completions.
namespace warpfold::cli {

/// Value words are what may stand for a value, as its type spells it: "auto|VALUE|none". In it
/// lower-case words stand for themselves, what has FILE or OUT in it for a file, and anything else
/// for what users make up. A type that ends with ",..." is of several, commas between them.
struct ValueWords {
  std::vector<std::string> words;
  bool file = false;
  bool list = false;
};

/// Takes a type apart.
ValueWords value_words(const std::string& type);

struct TableEntry {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument "FILE"
  std::string value;               ///< as shown: "NAME,..."; empty for a flag
  std::string help;
  ValueWords values;
  bool required = false;
  bool repeated = false;

  bool is_flag() const { return value.empty(); }

  /// The first clause of the help.
  std::string summary() const;
};

struct TableGroup {
  std::string title;
  std::vector<TableEntry> options;
};

/// A command table tells of a command, or of the program itself, in the order of its help.
struct CommandTable {
  std::string name;  ///< "warpfold", "warpfold reduce"
  std::string description;
  std::vector<TableEntry> arguments;
  std::vector<TableGroup> groups;
  std::vector<std::string> examples;  ///< command lines
  std::vector<CommandTable> commands;

  std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};

/// Reads what `application` parses.
CommandTable command_table(const CLI::App& application);

/// Writes how a command is called: "warpfold scan [OPTIONS] FILE [DATASET...]".
std::string usage_text(const CommandTable& command);

/// Puts `text` into lines of at most `width` columns, unless a word has more.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace warpfold::cli
