#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "io/hdf5/hdf5_error.hpp"

namespace warpfold::io {

/// Calls query(text, size), one of HDF5's that return a name's length, and then again for the name.
/// Throws Error.
template <class Query>
std::string queried_name(Query query, const std::string& problem) {
  const ssize_t length = require(query(nullptr, 0), problem);
  std::string name(static_cast<std::size_t>(length), '\0');
  require(query(name.data(), name.size() + 1), problem);
  return name;
}

}  // namespace warpfold::io
