#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <vector>

#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {

/// Texts of one dimension and the characters that classic netCDF has in their place, along a
/// second dimension. The functions throw an Error beginning with `problem`, and are called within a
/// LibraryScope.

bool is_text(hid_t type);

/// Tells whether a type is that of single characters.
bool is_character(hid_t type);

/// Views texts, of any type, as long as `values` is there.
std::vector<std::string_view> views_of(const StoredValues& values);

/// Returns texts, of any type, as characters [texts][length of the longest one, at least 1], zeros
/// behind shorter ones.
StoredValues characters_of(const StoredValues& texts, const std::string& problem);

/// Returns characters [texts][length] as texts of that length.
StoredValues texts_of(const StoredValues& characters, const std::string& problem);

}  // namespace warpfold::io
