#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpfold::io {

/// CF attributes of a dataset that are texts; those of a compound's members are ignored.
struct DatasetText {
  std::optional<std::string> units;
  std::optional<std::string> long_name;
  std::optional<std::string> cell_methods;
  std::optional<std::string> calendar = {};
  std::optional<std::string> standard_name = {};
  std::optional<std::string> bounds = {};  ///< name of a variable
};

/// Throws Error.
DatasetText read_dataset_text(const std::string& file, const std::string& dataset);

}  // namespace warpfold::io
