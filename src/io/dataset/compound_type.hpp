#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"

/// A member of a compound is called by its name, one of a compound in it by both, "position.x".
/// Throw Error where HDF5 fails; call within a LibraryScope.
namespace warpfold::io {

/// Lists what a compound has, in the order of its bytes, compounds in it by their members.
std::vector<std::string> compound_members(hid_t compound);

/// Returns the type of a member; no handle where there is no such member, or `type` is no compound.
TypeHandle compound_member_type(hid_t type, const std::string& member);

/// Makes the compound that has this one member alone, of a type.
TypeHandle make_compound_of_member(hid_t compound, const std::string& member, TypeHandle type);

}  // namespace warpfold::io
