#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/selection.hpp"
#include "core/values/unpacking.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {

/// The functions below look at variables beside the dataset that outputs are computed from. They
/// throw Error, whose words nobody sees: it costs what can't be read. Call within a LibraryScope.

/// Which file, and which object of it.
using ObjectKey = std::pair<unsigned long, std::string>;

ObjectKey key_of(hid_t object);

/// Tells whether an object lies in an open file.
bool is_in(hid_t file, hid_t object);

/// Counts the hard links to an object.
unsigned hard_links_of(hid_t object);

/// Returns the names of variables in a text attribute, which may have colons behind them.
std::vector<std::string> names_in(hid_t variable, const std::string& attribute);

/// Opens the cells, coordinates and grid mapping that attributes of a variable name.
std::vector<DatasetHandle> open_described(hid_t variable);

/// Throws Error where bounds have units, or a calendar, that are not those of their variable.
void require_units_of(hid_t variable, hid_t bounds);

/// Throws Error where a value is outside of its cell by more than float32 rounds. Cells have two
/// bounds each.
void require_cells_of(std::span<const double> values, std::span<const double> cells);

/// Files that have a variable one behind another along its first dimension, or along a new one
/// where each has one element; the first of them is the variable's own. None: that alone.
using SeveralFiles = std::span<const std::string>;

/// A variable as it is read.
struct InputVariable {
  hid_t handle;
  SeveralFiles files = {};
  /// Path of the variable whose units and calendar its numbers have, where they are bounds and have
  /// none of their own; empty: none.
  std::string bounds_of = {};
};

/// Returns the extents of a variable; throws where those in several files are not alike.
std::vector<std::uint64_t> shape_of(const InputVariable& variable);

/// Returns what is selected of a variable, which has it, as elements of `type`; as f64 where
/// several files have different types, or different units of times: all in those of the first.
/// Throws where that is more than 256 MiB, and where in several files numbers have another meaning.
StoredValues read_part(const InputVariable& variable, hid_t type, const Selection& part);

/// Tells whether elements of a type are integers or floats.
bool is_number(hid_t type);
bool is_number_or_text(hid_t type);

/// Tells whether a slice has indices below an extent alone.
bool has_indices(const Slice& slice, std::uint64_t extent);

/// Tells whether values strictly rise or fall, and are finite.
bool is_monotonic(const std::vector<double>& values);

/// Tells whether `count` equal shares of values have the same bytes.
bool are_alike(const StoredValues& values, std::uint64_t count);

/// Returns what a variable has at each index of its first dimension; throws where that differs.
StoredValues values_of_all_indices(const InputVariable& variable, hid_t type, Selection part);

/// Tells whether attributes make other values of stored numbers.
bool is_packed(hid_t variable);

/// Returns how a variable's numbers are unpacked, and the type they are taken as; none where
/// attributes say nothing of that.
std::optional<std::pair<ElementType, Unpacking>> unpacking_of(hid_t variable);

/// Returns the values of what is selected of a variable of numbers, unpacked.
std::vector<double> read_numbers(const InputVariable& variable, const Selection& part);

}  // namespace warpfold::io
