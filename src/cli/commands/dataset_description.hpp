#pragma once

#include <string>

#include "cli/report/json_writer.hpp"
#include "cli/report/text.hpp"
#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::cli {

/// Tells how a dataset's bytes get into memory, and why so.
std::string read_path_text(const io::DatasetInfo& info);

/// Makes rows of a property's name and its value, for a reader.
Table properties_table(const io::DatasetInfo& info);

/// Tells programs a dataset's properties.
Json properties_json(const io::DatasetInfo& info);

/// Makes rows of what --cf, --fill-value and --where make of elements; none for options not given.
Table view_table(const ViewOptions& options, const Decoding& decoding, ElementType stored);

/// Adds the numbers behind them to a dataset's properties: the values that are left out, the factor
/// and the offset.
void add_view(Json& properties, const ViewOptions& options, const Decoding& decoding,
              ElementType stored);

}  // namespace warpfold::cli
