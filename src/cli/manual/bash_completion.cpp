#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/manual/completions.hpp"
#include "core/base/text.hpp"

namespace warpfold::cli {
namespace {

/// Completes by `_warpfold_options COMMAND`, `_warpfold_arguments COMMAND` and `_warpfold_value
/// COMMAND OPTION`, which print what is in the program's table.
constexpr std::string_view bash_functions = R"bash(
# _warpfold_suggest WORD KIND...: completes WORD by words, @list of words, @file, or nothing: @any.
_warpfold_suggest() {
  local word=$1 before='' each words=()
  shift
  for each in "$@"; do
    case $each in
      @file)
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
        ;;
      @list)
        compopt -o nospace 2>/dev/null
        [[ $word == *,* ]] && before=${word%,*},
        ;;
      @any) ;;
      *) words+=("$each") ;;
    esac
  done
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
    compgen -P "$before" -W "${words[*]}" -- "${word#"$before"}")
}

# _warpfold_place: prints how many arguments stand before the cursor.
_warpfold_place() {
  local i place=0 word
  for ((i = 2; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word != -* ]]; then
      place=$((place + 1))
    elif [[ ${COMP_WORDS[i + 1]} == = ]]; then
      i=$((i + 2))
    elif [[ $(_warpfold_value "${COMP_WORDS[1]}" "$word") ]]; then
      i=$((i + 1))
    fi
  done
  echo "$place"
}

_warpfold() {
  local command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local kinds place
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _warpfold_suggest "$word" $(_warpfold_options)
    return
  fi
  if [[ $word == = ]]; then
    word=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  read -r -a kinds <<<"$(_warpfold_value "$command" "$option")"
  if [[ $word == -* ]]; then
    _warpfold_suggest "$word" $(_warpfold_options "$command")
  elif ((${#kinds[@]} > 0)); then
    _warpfold_suggest "$word" "${kinds[@]}"
  else
    place=$(_warpfold_place)
    mapfile -t kinds < <(_warpfold_arguments "$command")
    ((place < ${#kinds[@]})) || place=$((${#kinds[@]} - 1))
    ((place >= 0)) && _warpfold_suggest "$word" ${kinds[place]}
  fi
}

complete -F _warpfold warpfold
)bash";

/// Tells what a value is completed by: "@file", "@list", words, or "@any".
std::string kinds_of(const TableEntry& entry) {
  std::vector<std::string> kinds;
  if (entry.values.list) kinds.emplace_back("@list");
  if (entry.values.file) kinds.emplace_back("@file");
  kinds.insert(kinds.end(), entry.values.words.begin(), entry.values.words.end());
  const bool known = entry.values.file || !entry.values.words.empty();
  return known ? joined(kinds, " ") : "@any";
}

std::vector<std::string> option_names(const CommandTable& command) {
  std::vector<std::string> names;
  for (const TableGroup& group : command.groups)
    for (const TableEntry& option : group.options)
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string options_function(const CommandTable& program) {
  std::vector<std::string> first = option_names(program);
  std::string text =
      "# The words that COMMAND may have, or the program where there is none.\n"
      "_warpfold_options() {\n  case ${1:-} in\n";
  for (const CommandTable& command : program.commands) {
    first.push_back(command.last_name());
    text += fmt::format("    {}) echo {} ;;\n", command.last_name(),
                        joined(option_names(command), " "));
  }
  return text + fmt::format("    '') echo {} ;;\n  esac\n}}\n", joined(first, " "));
}

std::string arguments_function(const CommandTable& program) {
  std::string text =
      "\n# What completes the arguments of COMMAND, a line for each.\n"
      "_warpfold_arguments() {\n  case $1 in\n";
  for (const CommandTable& command : program.commands) {
    std::string kinds;
    for (const TableEntry& argument : command.arguments) {
      const bool files = argument.values.file || argument.repeated;
      kinds += fmt::format(" '{}'", files ? "@file" : joined(argument.values.words, " "));
    }
    text += fmt::format("    {}) printf '%s\\n'{} ;;\n", command.last_name(), kinds);
  }
  return text + "  esac\n}\n";
}

std::string value_function(const CommandTable& program) {
  std::string text =
      "\n# What completes the value of COMMAND's OPTION; nothing for one without.\n"
      "_warpfold_value() {\n  case $1:$2 in\n";
  for (const CommandTable& command : program.commands)
    for (const TableGroup& group : command.groups)
      for (const TableEntry& option : group.options) {
        if (option.is_flag()) continue;
        std::vector<std::string> patterns;
        for (const std::string& name : option.names)
          patterns.push_back(command.last_name() + ":" + name);
        text += fmt::format("    {}) echo {} ;;\n", joined(patterns, " | "), kinds_of(option));
      }
  return text + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CommandTable& program) {
  return "# Completes warpfold in bash. The build writes this from the table of options.\n\n" +
         options_function(program) + arguments_function(program) + value_function(program) +
         std::string(bash_functions);
}

}  // namespace warpfold::cli
