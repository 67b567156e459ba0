#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/element_part.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {

/// The index of chunks is kept in memory, 16 bytes each.
inline constexpr std::uint64_t most_chunks = std::uint64_t{1} << 25;

/// Describes what is read of an open dataset's elements, whose `type` is supported, with the
/// quickest path to it, by its creation properties, too. Throws Error. Call within a LibraryScope.
DatasetInfo describe_dataset(hid_t dataset, hid_t creation, const StoredType& type,
                             const ElementPart& part, const std::string& file,
                             const std::string& name);

/// The type of a dataset's numbers, and the one that they are taken as.
struct NumberType {
  ElementType stored;
  ElementType taken;

  bool as_unsigned() const { return taken != stored; }
};

/// Returns the types of a dataset; none where its elements are no numbers. Throws an Error
/// beginning with `problem`.
std::optional<NumberType> number_type_of(hid_t dataset, const std::string& problem);

/// Sets the path that a user asks for. Throws a usage Error beginning with `problem` where the
/// dataset can't be read that way.
void take_path(DatasetInfo& info, ReadPath wanted, const std::string& problem);

/// Makes `selection`, a slice for each dimension of the stored shape, what is selected.
void take_selection(DatasetInfo& info, const Selection& selection);

}  // namespace warpfold::io
