#pragma once

#include <string_view>

namespace warpfold::cli {

/// Writes `text` to standard output, all of it. Throws Error.
void print(std::string_view text);

/// Writes one line that starts with "warpfold: " to standard error.
void print_remark(std::string_view text);

}  // namespace warpfold::cli
