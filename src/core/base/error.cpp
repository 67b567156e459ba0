#include "warpfold/core/error.hpp"

#include <algorithm>
#include <string_view>

namespace warpfold {
namespace {

/// Replaces control characters, which a file's names may hold and a terminal would obey.
std::string one_line(std::string text) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

/// Ends a sentence, which a library's text may have done already.
std::string ended(std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (!text.empty() && std::string_view(".?!").find(text.back()) == std::string_view::npos)
    text += '.';
  return text;
}

std::string message(const std::string& problem, const std::string& why,
                    const std::string& suggestion) {
  std::string text = ended(one_line(why.empty() ? problem : problem + ": " + why));
  if (!suggestion.empty()) text.append(" ").append(ended(one_line(suggestion)));
  return text;
}

}  // namespace

Error::Error(std::string problem, std::string why, std::string suggestion, ExitCode exit_code)
    : std::runtime_error(message(problem, why, suggestion)),
      problem_(std::move(problem)),
      why_(std::move(why)),
      suggestion_(std::move(suggestion)),
      exit_code_(exit_code) {}

}  // namespace warpfold
