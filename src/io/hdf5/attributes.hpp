#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

using TextAttribute = std::pair<std::string, std::string>;

/// Lists the attributes of an object, in no order; none where HDF5 can't decode some. Call within a
/// LibraryScope.
std::optional<std::vector<std::string>> all_attributes(hid_t object);

/// Returns whether an object has an attribute that HDF5 finds: attributes behind one that it can't
/// decode, of a newer format, it doesn't find. Call within a LibraryScope.
bool has_attribute(hid_t object, const std::string& name);

/// Copies the attributes of dataset `source` to dataset `target`, whose dimensions are `dimensions`
/// of the source's: `DIMENSION_LABELS` has theirs alone. Leaves out those that `left_out` names,
/// those that refer to other objects of the source's file (references, variable-length
/// sequences, what makes a netCDF dimension scale), and a `_FillValue` of another type than the
/// target's, which netCDF does not allow. Where HDF5 can't decode some, copies those of CF and
/// netCDF that has_attribute() finds, and returns false. Throws an Error beginning with `problem`.
/// Call within a LibraryScope.
bool copy_attributes(hid_t source, hid_t target, std::span<const std::string> left_out,
                     std::span<const std::size_t> dimensions, const std::string& problem);

/// Reads an attribute of a dataset, or of a file's root group, that holds text: several strings are
/// lines of it. None where there is no such attribute or it holds something else. Throws an Error
/// beginning with `problem`. Call within a LibraryScope.
std::optional<std::string> read_text_attribute(hid_t object, const std::string& name,
                                               const std::string& problem);

/// Returns the lines of a text attribute; empty where read_text_attribute() returns none. Throws an
/// Error beginning with `problem`. Call within a LibraryScope.
std::vector<std::string> read_lines(hid_t object, const std::string& name,
                                    const std::string& problem);

/// Adds an attribute `_FillValue` of one element to a dataset: of its type, in whose bytes it is
/// given. Throws an Error beginning with `problem`. Call within a LibraryScope.
void add_fill_value(hid_t target, const std::byte* element, const std::string& problem);

/// Makes the type of UTF-8 strings of a fixed length, padded by zeros. Throws an Error beginning
/// with `problem`.
TypeHandle make_text_type(std::size_t bytes, const std::string& problem);

/// Attribute that has names of a dataset's dimensions.
constexpr const char* labels_name = "DIMENSION_LABELS";

/// Adds labels of a dataset's dimensions, unless all are empty. Throws an Error beginning with
/// `problem`. Call within a LibraryScope.
void add_labels(hid_t target, std::vector<std::string> labels, const std::string& problem);

/// Adds fixed-length UTF-8 string attributes to a dataset, or to a file's root group. Throws an
/// Error beginning with `problem`. Call within a LibraryScope.
void add_text_attributes(hid_t target, std::span<const TextAttribute> attributes,
                         const std::string& problem);

}  // namespace warpfold::io
