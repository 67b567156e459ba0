#include "cli/report/standard_output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  throw Error("can't write to standard output", std::strerror(errno),
              "Check where it is redirected to.");
}

void print_remark(std::string_view text) {
  const std::string line = fmt::format("warpfold: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace warpfold::cli
