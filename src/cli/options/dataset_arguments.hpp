#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "warpfold/dataset_choice.hpp"

namespace warpfold::cli {

/// The FILE DATASET... of a command.
struct DatasetArguments {
  std::string file;
  DatasetChoice datasets;

  /// Whether they may stand for other than the one dataset that has their name: their report is one
  /// of several datasets then.
  bool several() const;

  const std::string& dataset() const { return datasets.names.front(); }
};

/// Lets `application` fill `arguments`, which must outlive its parsing.
void add_dataset_arguments(CLI::App& application, DatasetArguments& arguments);

/// Likewise the FILE DATASET of a command that takes one dataset.
void add_dataset_arguments(CLI::App& application, std::string& file, std::string& dataset);

/// Throws a usage Error where no dataset is named, or some are and all are asked for, too.
void check(const DatasetArguments& arguments);

}  // namespace warpfold::cli
