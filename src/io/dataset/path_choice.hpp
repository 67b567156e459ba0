#pragma once

#include <string>

#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// Sets the quickest path to a dataset that is described otherwise, and why there is none quicker.
/// `exact`: the stored bits are those of `info.format`.
void choose_path(DatasetInfo& info, bool exact);

/// Sets the path that a user asks for. Throws a usage Error beginning with `problem` where the
/// dataset can't be read that way.
void take_path(DatasetInfo& info, ReadPath wanted, const std::string& problem);

}  // namespace warpfold::io
