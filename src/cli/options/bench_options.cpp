#include "cli/options/bench_options.hpp"

#include "cli/options/option_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {

int parse_iterations(const std::string& text) {
  constexpr std::uint64_t maximum = 1'000'000;
  return static_cast<int>(parse_integer("--iterations", text, 1, maximum));
}

void refuse_cpu_backend(const CommonOptions& options, const std::string& command) {
  if (options.run.backend != BackendChoice::cpu) return;
  throw usage_error("'" + command + "' measures GPUs", "--backend cpu was given",
                    "Leave it out, or see warpfold_bench_host for the cpu backend.");
}

}  // namespace warpfold::cli
