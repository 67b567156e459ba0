#pragma once

#include <hdf5.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// The values of an attribute, or of a part of a dataset, in memory; gives back what HDF5 allocated
/// for those of variable length. Make, use and destroy within a LibraryScope.
class StoredValues {
 public:
  /// Takes values that hold nothing of variable length.
  StoredValues(TypeHandle type, SpaceHandle space, std::vector<std::byte> bytes);
  ~StoredValues();
  StoredValues(StoredValues&& other) noexcept = default;
  StoredValues& operator=(StoredValues&&) = delete;

  hid_t type() const { return type_.get(); }
  hid_t space() const { return space_.get(); }  ///< all of it is the values
  bool empty() const { return bytes_.empty(); }
  const std::byte* data() const { return bytes_.data(); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

  /// Compares types, shapes and values; of variable length none but strings are equal.
  bool operator==(const StoredValues& other) const;

 private:
  TypeHandle type_;
  SpaceHandle space_;
  std::vector<std::byte> bytes_;
};

/// Read values as elements of `type`. Refuse chunks that are not whole, and lengths that a damaged
/// file claims before HDF5 allocates memory for them. Throw an Error beginning with `problem`.
StoredValues values_of_attribute(hid_t attribute, const std::string& name, hid_t type, hid_t space,
                                 const std::string& problem);

/// `part` has a slice for each dimension of the dataset; `space` is that of the values.
StoredValues values_of_dataset(hid_t dataset, hid_t type, const Selection& part, SpaceHandle space,
                               const std::string& problem);

/// Returns numbers as elements of a floating-point type. Throws Error.
StoredValues converted(std::span<const double> numbers, hid_t type,
                       const std::vector<std::uint64_t>& shape);

/// Returns whether a floating-point type has all of some numbers. Throws Error.
bool holds(hid_t type, const std::vector<double>& numbers);

/// Returns the extents of an open dataset; empty for a scalar or null dataspace. Throws Error.
std::vector<std::uint64_t> shape_of(hid_t dataset, const std::string& problem);

/// Makes a dataspace of a shape, a scalar's where that is empty. Throws an Error of `problem`.
SpaceHandle make_space(const std::vector<std::uint64_t>& shape, const std::string& problem);

/// Selects part of a dataspace; one without dimensions stays whole. Throws an Error of `problem`.
void select_part(hid_t space, const Selection& part, const std::string& problem);

}  // namespace warpfold::io
