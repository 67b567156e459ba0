#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "cli/options/common_settings.hpp"
#include "cli/options/option_values.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// Adds an option of a command, "--name" or "-n,--name", whose value `take` reads.
template <class Take>
CLI::Option* add_option(CLI::App& command, const std::string& name, const std::string& type,
                        const std::string& help, Take&& take) {
  return command.add_option_function<std::string>(name, std::forward<Take>(take), help)
      ->type_name(type);
}

/// Adds an option that sets `target` to parse(name, its value, more...).
template <class Target, class Parse, class... More>
CLI::Option* add_option(CLI::App& command, const std::string& name, const std::string& type,
                        const std::string& help, Target& target, Parse parse, More... more) {
  return add_option(command, name, type, help, [=, &target](const std::string& text) {
    if constexpr (std::is_integral_v<Target>)
      target = static_cast<Target>(parse(name, text, more...));
    else
      target = parse(name, text, more...);
  });
}

/// Adds an option whose value is one of `choices`, which have to outlive the command.
template <class Meaning, std::size_t Count>
CLI::Option* add_option(CLI::App& command, const std::string& name,
                        const Choice<Meaning> (&choices)[Count], const std::string& help,
                        Meaning& chosen) {
  return add_option(command, name, words_of(choices), help, [&, name](const std::string& text) {
    chosen = parse_choice(name, text, choices);
  });
}

/// While it lives, a title heads the options that are added to a command in its help.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, const char* title)
      : command_(command), before_(command.option_defaults()->get_group()) {
    command_.option_defaults()->group(title);
  }
  ~OptionGroup() { command_.option_defaults()->group(before_); }
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;

 private:
  CLI::App& command_;
  std::string before_;
};

/// Lets a command fill `run`, which must outlive the parsing.
void add_run_options(CLI::App& command, RunOptions& run);

/// Lets a command fill `options`, which must outlive the parsing.
void add_common_options(CLI::App& command, CommonOptions& options);

/// Does what add_common_options() does, for a command that passes over data.
void add_data_options(CLI::App& command, CommonOptions& options);

}  // namespace warpfold::cli
