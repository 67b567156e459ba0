#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/report/text.hpp"
#include "cli/requests/requests.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {

ScanRequest::ScanRequest(CLI::App& command) : DatasetRequest(command) {
  add_dataset_arguments(command, arguments);
  add_output_options(command, options.output);
  add_option(command, "--op", names_of(all_scan_operations), "Operation of the scan. Default: sum",
             [this](const std::string& text) { options.operation = parse_scan_operation(text); });
  add_option(command, "--axis", "K|NAME",
             "Scan along this dimension only. As NumPy's cumsum; negative numbers count from "
             "the last",
             options.axis, parse_axis, "a scan goes along one axis");
  add_option(command, "--output-type", names_of(all_element_types),
             "Type of the output. Default: 64 bits for sums of integers, otherwise the input's "
             "type",
             [this](const std::string& text) { options.output_type = parse_element_type(text); })
      ->option_text("TYPE");
  add_option(command, "--overflow", overflow_policies,
             "Report or wrap integers that overflow. Overflow means that the output's type "
             "can't hold a prefix. Default: error",
             options.overflow);
  command.add_flag("--exclusive", options.exclusive, "Exclude each prefix's own element");
  command.add_flag("--offsets", options.offsets,
                   "Write the sums of N elements as N + 1 offsets. They have one dimension: 0, the "
                   "sum of the first element, of the first two, up to that of all");
  add_storage_options(command, options.storage);
  add_view_options(command, options.view);
}

void ScanRequest::complete(const mpi::Communicator& communicator,
                           const std::vector<std::string>& words) {
  take_files(arguments, options.view, communicator);
  require_output(options.output);
  if (command_.count("--overflow") > 0 && options.operation != ScanOperation::sum)
    throw usage_error("--overflow has no effect", "minima and maxima are elements themselves",
                      "Omit it.");
  options.output.command = shell_quoted(words);
}

}  // namespace warpfold::cli
