#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

/// Groups of the indices along an axis that have one label, in the order of labels. An index
/// without a label is in none.
struct LabelledGroups {
  AxisGroups groups;
  io::OutputDimension dimension;  ///< dimension of the labels; on the root
};

/// Returns whether ReduceOptions::by names a part of a time, not a dataset.
bool is_part_of_time(const std::string& by);

/// Adds the part of time that the name of a dataset most likely means, such as month for "monthly",
/// to what an Error of it advises, where an option is to name it.
Error advised_on_part(const std::string& name, const Error& error,
                      const std::string& option = "by");

/// Keys that there are, rising, each once; and of many their numbers among these, or no_label.
struct NumberedKeys {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> numbers;
};

NumberedKeys number_keys(std::span<const std::optional<std::uint64_t>> keys);

/// Returns how many of the labels called `name` are empty texts; empty where none is.
std::string empty_labels_note(const std::string& name, std::uint64_t empty, std::uint64_t labels);

/// Groups the indices along a dimension of a view, as ReduceOptions::by has it, by what is read
/// beside it. Collective; throws the same Error on every rank, a usage Error where labels don't fit
/// the dimension.
LabelledGroups group_by(const std::string& by, int dimension, DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
