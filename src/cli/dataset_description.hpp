#pragma once

#include <string>

#include "cli/json_writer.hpp"
#include "cli/table.hpp"
#include "io/dataset.hpp"

namespace warpfold::cli {

/// How a dataset's bytes get into memory, and why so.
std::string read_path_text(const io::DatasetInfo& info);

/// Rows of a property's name and its value, for a reader.
Table properties_table(const io::DatasetInfo& info);

/// The same for programs.
Json properties_json(const io::DatasetInfo& info);

}  // namespace warpfold::cli
