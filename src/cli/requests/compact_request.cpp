#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {

CompactRequest::CompactRequest(CLI::App& command) : DatasetRequest(command) {
  add_dataset_arguments(command, arguments);
  add_output_options(command, options.output);
  command.add_flag("--indices", options.indices,
                   "Also write the elements' flat indices. Their dataset is DATASET_indices");
  add_storage_options(command, options.storage);
  add_view_options(command, options.view);
}

void CompactRequest::complete(const mpi::Communicator& communicator,
                              const std::vector<std::string>& words) {
  take_files(arguments, options.view, communicator);
  require_output(options.output);
  if (options.view.where.empty() && options.view.mask.empty() &&
      (options.view.fill_value.empty() || options.view.fill_value == "none"))
    throw usage_error("the condition is missing", "every element would be kept",
                      "Give --where CONDITION, such as --where '>0', --fill-value or --mask.");
  options.output.command = shell_quoted(words);
}

}  // namespace warpfold::cli
