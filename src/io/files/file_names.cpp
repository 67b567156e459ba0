#include "io/files/file_names.hpp"

#include <glob.h>

#include <algorithm>
#include <cstddef>

#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

bool is_digit(char each) { return each >= '0' && each <= '9'; }

/// Takes the digits, or else one character, that a text begins with.
std::string_view first_part(std::string_view text) {
  const std::size_t digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  return text.substr(0, std::max<std::size_t>(digits, 1));
}

}  // namespace

bool comes_before(std::string_view one, std::string_view other) {
  for (std::string_view a = one, b = other; !a.empty() && !b.empty();) {
    const std::string_view x = first_part(a);
    const std::string_view y = first_part(b);
    a.remove_prefix(x.size());
    b.remove_prefix(y.size());
    if (is_digit(x.front()) && is_digit(y.front())) {
      const auto number = [](std::string_view digits) {
        return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
      };
      const std::string_view m = number(x);
      const std::string_view n = number(y);
      if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
    } else if (x != y) {
      return x < y;
    }
    if (a.empty() != b.empty()) return a.empty();
  }
  return one < other;
}

std::vector<std::string> files_called(const std::string& name) {
  const bool may_be_pattern = name.find_first_of("*?[") != std::string::npos;
  if (!may_be_pattern || version_of(name) != FileVersion{}) return {name};
  glob_t found{};
  const int status = ::glob(name.c_str(), 0, nullptr, &found);
  std::vector<std::string> files;
  if (status == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::ranges::sort(files, comes_before);
  if (files.empty())
    throw Error("no file matches '" + name + "'", "", "Name files, or a pattern of them.");
  return files;
}

}  // namespace warpfold::io
