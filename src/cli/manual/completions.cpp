#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/manual/manual.hpp"

namespace warpfold::cli {
namespace {

using Words = std::vector<std::string>;

constexpr int no_space = 2;
constexpr int no_files = 4;

const TableEntry* find_option(const CommandTable& command, const std::string& name) {
  for (const TableGroup& group : command.groups)
    for (const TableEntry& option : group.options)
      if (std::ranges::count(option.names, name) > 0) return &option;
  return nullptr;
}

class Answer {
 public:
  explicit Answer(std::string word) : word_(std::move(word)) {}

  void offer(const std::string& word, const std::string& meaning) {
    if (!word.starts_with(word_)) return;
    lines_ += word + (meaning.empty() ? "" : "\t" + meaning) + "\n";
  }

  /// Offers options that are not among `given`, unless they may be repeated.
  void offer_options(const CommandTable& command, const Words& given) {
    const auto is_given = [&](const std::string& name) {
      return std::ranges::count(given, name) > 0;
    };
    for (const TableGroup& group : command.groups)
      for (const TableEntry& option : group.options)
        if (option.repeated || std::ranges::none_of(option.names, is_given))
          for (const std::string& name : option.names) offer(name, option.summary());
  }

  /// Offers words after the option's name and the values of a list that the word begins with.
  void offer_values(const ValueWords& values) {
    const std::size_t name = word_.starts_with("--") ? word_.find('=') + 1 : 0;
    const std::size_t list = values.list ? word_.rfind(',') + 1 : 0;
    const std::string before = word_.substr(0, std::max(name, list));
    for (const std::string& word : values.words) offer(before + word, "");
    flags_ = (values.list ? no_space : 0) + (values.file ? 0 : no_files);
  }

  std::string text() const { return lines_ + fmt::format(":{}\n", flags_); }

 private:
  std::string word_;
  std::string lines_;
  int flags_ = no_files;
};

/// `words` stand after the command, the last one being written.
void answer_for(const CommandTable& command, Words words, Answer& answer) {
  const std::string word = words.back();
  words.pop_back();
  std::size_t place = 0;
  const TableEntry* valued = nullptr;  // the option whose value comes next
  for (const std::string& each : words) {
    const TableEntry* option = find_option(command, each);
    if (option == nullptr && valued == nullptr && !each.starts_with('-')) ++place;
    valued = option == nullptr || option->is_flag() ? nullptr : option;
  }
  const std::size_t joint = word.find('=');
  if (word.starts_with("--") && joint != std::string::npos)
    valued = find_option(command, word.substr(0, joint));
  else if (word.starts_with('-'))
    return answer.offer_options(command, words);
  if (valued != nullptr) return answer.offer_values(valued->values);
  if (command.arguments.empty()) return;
  const TableEntry& argument = command.arguments[std::min(place, command.arguments.size() - 1)];
  ValueWords values = argument.values;
  values.file = values.file || argument.repeated;
  answer.offer_values(values);
}

}  // namespace

std::string completions(const CommandTable& program, Words words) {
  if (words.empty()) words.emplace_back();
  // Bash makes --option=value three words.
  if (words.back() == "=") words.back().clear();
  std::erase(words, "=");
  Answer answer(words.back());
  if (words.size() == 1) {
    for (const CommandTable& command : program.commands)
      answer.offer(command.last_name(), command.description);
    answer.offer_options(program, {});
    return answer.text();
  }
  for (const CommandTable& command : program.commands)
    if (command.last_name() == words.front())
      answer_for(command, {words.begin() + 1, words.end()}, answer);
  return answer.text();
}

}  // namespace warpfold::cli
