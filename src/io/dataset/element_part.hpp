#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"

/// A member of a compound is called by its name, one of a compound in it by both, "position.x". A
/// complex number has the members of its compound, or "r" and "i", and also "abs". Throw Error
/// where HDF5 fails; call within a LibraryScope.
namespace warpfold::io {

/// One level of a datatype, around others: an array, a compound, or a complex number where neither
/// extents nor members are given.
struct TypeLayer {
  std::vector<std::uint64_t> extents;
  std::vector<std::string> members;  ///< all of the same type
};

/// Numbers of each stored element that are read: one, arrays of them, or pairs.
struct ElementPart {
  TypeHandle type;   ///< type of a number as stored; none where elements have no such part
  std::string role;  ///< " (real part)"; empty unless it is of a complex number
  std::vector<std::uint64_t> extents;  ///< extents of the arrays that they are in, the outer first
  std::vector<TypeLayer> layers;       ///< outermost first
  std::uint64_t numbers = 1;           ///< 2: HDF5 reads both parts of complex numbers
  std::uint64_t first = 0;             ///< first of these that is wanted
  bool modulus = false;                ///< both are wanted: their absolute value

  /// Returns the type in memory of a part of each element, by that of a number.
  TypeHandle memory_type(TypeHandle number) const;
};

/// Returns what a member is of elements of a type; all of them where it has no name.
ElementPart element_part(hid_t type, const std::string& member);

/// Lists the members of elements of a type, in the order of their bytes, those of compounds in it
/// by their members, without "abs". Elements without members have one without a name.
std::vector<std::string> element_members(hid_t type);

/// Returns whether elements of a type have members.
bool has_members(hid_t type);

}  // namespace warpfold::io
