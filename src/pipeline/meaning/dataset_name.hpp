#pragma once

#include <optional>
#include <string>
#include <vector>

#include "warpfold/axis.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// A dataset that an option names beside another.
struct NamedDataset {
  std::string option;  ///< the one that names it
  std::string file;
  std::string dataset;
  bool names_file = false;            ///< its file is named, too, and no other of several is meant
  std::vector<Axis> dimensions = {};  ///< dimensions of the other; none: not given
};

/// A condition on the elements of a dataset beside another: those count that meet it.
struct NamedCondition {
  std::string option;   ///< mask or where
  std::string text;     ///< as it was given
  std::string dataset;  ///< for parse_dataset_name()
  std::string condition;
};

/// Understands "DATASET" or "FILE::DATASET", beside a dataset of `file`. Throws a usage Error.
NamedDataset parse_plain_name(const std::string& option, const std::string& text,
                              const std::string& file);

/// Understands a plain name, or one with dimensions of the other dataset behind it, as in
/// "DATASET@0,2" or "DATASET@lat"; a name that the file has is plain. For one rank; throws a usage
/// Error.
NamedDataset parse_dataset_name(const std::string& option, const std::string& text,
                                const std::string& file);

/// Understands ViewOptions::mask beside a dataset of `file`: a dataset's name (elements count where
/// it is not 0), '!' and a name (where it is 0), or a name and a condition. A name that the file
/// has is one. For one rank; throws a usage Error.
NamedCondition parse_mask(const std::string& text, const std::string& file);

/// Takes a condition of ViewOptions::where apart that begins with a dataset's name; none where it
/// is one on the elements themselves.
std::optional<NamedCondition> condition_on_other(const std::string& text);

/// Returns the conditions of ViewOptions::where that are on the elements themselves.
std::vector<std::string> own_conditions(const std::vector<std::string>& where);

/// Lists the texts of options of a view that name datasets beside it.
std::vector<std::string> names_beside(const ViewOptions& options);

/// Returns the file and the dataset that such a text, or another option, names; for one rank.
/// Throws a usage Error.
NamedDataset dataset_of(const std::string& text, const std::string& file);

}  // namespace warpfold::pipeline
