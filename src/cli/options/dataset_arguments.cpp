#include "cli/options/dataset_arguments.hpp"

#include "warpfold/core/error.hpp"

namespace warpfold::cli {

bool DatasetArguments::several() const {
  return datasets.all || datasets.names.size() != 1 ||
         dataset().find_first_of("*?[") != std::string::npos;
}

void add_dataset_arguments(CLI::App& application, DatasetArguments& arguments) {
  application.add_option("FILE", arguments.file, "An HDF5 file")->required()->type_name("");
  application
      .add_option("DATASET", arguments.datasets.names,
                  "Paths of datasets in it, or patterns of them, as 'run*/temp'")
      ->type_name("...");
  application.add_flag("--all", arguments.datasets.all,
                       "All datasets of the file; those that can't be read are skipped");
}

void add_dataset_arguments(CLI::App& application, std::string& file, std::string& dataset) {
  application.add_option("FILE", file, "An HDF5 file")->required()->type_name("");
  application.add_option("DATASET", dataset, "The path of a dataset in it")
      ->required()
      ->type_name("");
}

void check(const DatasetArguments& arguments) {
  const bool named = !arguments.datasets.names.empty();
  if (named && arguments.datasets.all)
    throw usage_error("both DATASET and --all are given", "", "Leave out one of them.");
  if (!named && !arguments.datasets.all)
    throw usage_error("DATASET is required", "",
                      "Name datasets, a pattern of them, or --all; 'warpfold info " +
                          arguments.file + "' lists what there is.");
}

}  // namespace warpfold::cli
