#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {

/// The functions below look at variables beside the dataset that outputs are computed from. They
/// throw Error, whose words nobody sees: it costs what can't be read. Call within a LibraryScope.

inline const std::string cannot_read_variable = "cannot read a variable";

/// Which file, and which object of it.
using ObjectKey = std::pair<unsigned long, std::string>;

ObjectKey key_of(hid_t object);

/// Opens the dataset that an attribute of `variable` names: one of its group, or of one above.
/// Returns what is between the white space of a text.
std::vector<std::string> words_of(const std::string& text);

/// Returns none where there is no such dataset.
DatasetHandle open_named(hid_t variable, const std::string& name);

/// Files that have a variable one behind another along its first dimension, the first of them the
/// variable's own; none: that alone.
using SeveralFiles = std::span<const std::string>;

/// Returns the extents of a variable; throws where those in several files are not alike, have other
/// units, or are packed.
std::vector<std::uint64_t> shape_of(hid_t variable, SeveralFiles files);

/// Returns what is selected of a variable, which has it, as elements of `type`; throws where that
/// is more than 256 MiB.
StoredValues read_part(hid_t variable, hid_t type, const Selection& part, SeveralFiles files = {});

std::vector<double> read_numbers(hid_t variable, const Selection& part, SeveralFiles files = {});

}  // namespace warpfold::io
