#include "warpfold/core/error.hpp"

#include <algorithm>

namespace warpfold {
namespace {

/// Replaces control characters, which a file's names may hold and a terminal would obey.
std::string one_line(std::string text) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

std::string sentence(const std::string& problem, const std::string& why,
                     const std::string& suggestion) {
  std::string text = problem;
  if (!why.empty()) text += " (" + why + ")";
  if (!suggestion.empty()) text += (why.empty() ? ". " : " ") + suggestion;
  return one_line(text);
}

}  // namespace

Error::Error(std::string problem, std::string why, std::string suggestion, ExitCode exit_code)
    : std::runtime_error(sentence(problem, why, suggestion)),
      problem_(std::move(problem)),
      why_(std::move(why)),
      suggestion_(std::move(suggestion)),
      exit_code_(exit_code) {}

}  // namespace warpfold
