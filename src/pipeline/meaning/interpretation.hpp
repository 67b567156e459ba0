#pragma once

#include <optional>

#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/applied_attributes.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// How a view decodes a dataset's stored numbers.
struct Interpretation {
  Decoding decoding;
  AppliedAttributes applied;
  bool packed = false;               ///< `raw` values, which attributes would unpack
  bool of_several_packings = false;  ///< `raw` values of files whose attributes differ
};

/// Returns how the options want a dataset's elements decoded; reads its attributes.
/// Throws a usage Error for conditions and fill values that can't be, an Error for attributes
/// without which values would be wrong, and that can't be applied.
Interpretation interpret(const io::DatasetInfo& info, const ViewOptions& options);

/// Returns the element that a dataset's `_FillValue` names, if it does.
std::optional<Value> declared_fill_value(const io::StoredDataset& info);

}  // namespace warpfold::pipeline
