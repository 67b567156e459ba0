#include "cli/commands/grammar.hpp"

#include <algorithm>

#include "cli/manual/manual.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr const char* first_examples = R"(warpfold info FILE
warpfold reduce FILE DATASET --ops mean,std,median
mpirun -np 4 warpfold reduce FILE DATASET --axis time --ops mean -o means.nc)";

}  // namespace

Grammar::Grammar(Measurer measurer)
    : application_("Exact reductions and prefix scans of large HDF5 datasets", "warpfold") {
  application_.require_subcommand(0, 1);
  application_.formatter(std::make_shared<HelpFormatter>());
  application_.footer(first_examples);
  application_.add_flag("--version", version_, "Print the version");
  application_.add_flag("--config", config_,
                        "Print the configuration of the build and the machine");
  commands_.push_back(make_reduce_command(application_));
  commands_.push_back(make_scan_command(application_));
  commands_.push_back(make_histogram_command(application_));
  commands_.push_back(make_compact_command(application_));
  commands_.push_back(make_info_command(application_));
  commands_.push_back(make_generate_command(application_));
  commands_.push_back(make_bench_command(application_, measurer));
  commands_.push_back(make_ladder_command(application_, measurer));
}

Command& Grammar::chosen_command() {
  const auto chosen = std::find_if(commands_.begin(), commands_.end(),
                                   [](const auto& command) { return command->chosen(); });
  if (chosen == commands_.end())
    throw usage_error("no command is given", "", "See 'warpfold --help'.");
  return **chosen;
}

}  // namespace warpfold::cli
