#pragma once

#include <string>
#include <vector>

#include "cli/report/json_writer.hpp"
#include "cli/report/text.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "warpfold/applied_attributes.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::cli {

/// Returns how a dataset's bytes get into memory, and why so.
std::string read_path_text(const io::DatasetInfo& info);

/// Makes rows of a property's name and its value, for a reader.
Table properties_table(const io::DatasetInfo& info,
                       const std::vector<pipeline::DimensionDescription>& dimensions);

/// Tells programs a dataset's properties.
Json properties_json(const io::DatasetInfo& info,
                     const std::vector<pipeline::DimensionDescription>& dimensions);

/// Makes rows of what makes values, which are of type `values`, of stored numbers, and of which
/// values count; none where it is all of them as they are.
Table view_table(const ViewOptions& options, const AppliedAttributes& applied, ElementType values);

}  // namespace warpfold::cli
