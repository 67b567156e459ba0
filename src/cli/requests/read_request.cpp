#include "cli/options/common_options.hpp"
#include "cli/options/option_values.hpp"
#include "cli/requests/requests.hpp"

namespace warpfold::cli {
namespace {

constexpr Choice<bool> memories[] = {{"cuda", true}, {"cpu", false}};

}  // namespace

ReadRequest::ReadRequest(CLI::App& command) : DatasetRequest(command) {
  add_dataset_arguments(command, arguments);
  add_option(command, "--device", memories, "Memory that elements are read into",
             options.on_device);
  add_option(command, "--empty", "auto|VALUE", "Value of elements that don't count",
             [this](const std::string& text) { options.empty = text; });
  add_view_options(command, options.view);
}

void ReadRequest::complete(const mpi::Communicator& communicator, const std::vector<std::string>&) {
  take_files(arguments, options.view, communicator);
}

}  // namespace warpfold::cli
