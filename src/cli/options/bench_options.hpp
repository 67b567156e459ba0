#pragma once

#include <string>

#include "cli/options/common_options.hpp"

namespace warpfold::cli {

/// Of --iterations. Throws a usage Error.
int parse_iterations(const std::string& text);

/// Throws a usage Error where the backend is to be the cpu's; `command` measures GPUs alone.
void refuse_cpu_backend(const CommonOptions& options, const std::string& command);

}  // namespace warpfold::cli
