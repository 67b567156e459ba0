#pragma once

#include <string>
#include <vector>

#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// How the options want a dataset's elements decoded, its attributes read where they ask for them.
/// Throws a usage Error for conditions and fill values that can't be, an Error for attributes that
/// don't hold what the CF conventions say.
Decoding view_decoding(const io::DatasetInfo& info, const ViewOptions& options);

/// Attributes that describe a dataset's single elements, or how they are packed: false of what is
/// computed from several.
const std::vector<std::string>& element_attributes();

/// Those of them that are false of single elements as they are decoded: none unless unpacked.
std::vector<std::string> packing_attributes(const Decoding& decoding);

}  // namespace warpfold::pipeline
