#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// Describes the dataset in which datasets lie one behind another along a dimension, with the
/// quickest path to it. `packings`: how each has its values, where these count; elements are
/// unpacked where they differ; where any is packed, types may differ, too. Throws an Error that
/// names the files of two that differ in more, or whose values no type holds, and a usage Error
/// where they have no such dimension, or too many for a new one.
DatasetInfo concatenated(std::vector<DatasetInfo> infos, const JoinedDimension& along,
                         std::vector<Packing> packings = {});

/// Returns the file that each part lies in, or the dataset if it has no parts.
std::vector<std::string> stored_files(const DatasetInfo& info);

/// Returns the number of the part that has an index along the parts' dimension.
std::size_t part_at(const DatasetParts& parts, std::uint64_t index);

/// The part of a selection that lies in one of a dataset's parts.
struct PartSelection {
  std::size_t part = 0;
  Selection selection;       ///< selection of the part
  std::uint64_t before = 0;  ///< selected indices along the parts' dimension before its own
  std::uint64_t count = 0;   ///< its own
};

/// Returns what a selection, a slice for each dimension of the stored shape, takes of those parts
/// that it takes something of.
std::vector<PartSelection> parts_of(const DatasetParts& parts, const Selection& selection);

}  // namespace warpfold::io
