#pragma once

#include <hdf5.h>

#include <string>

namespace warpfold::io {

/// What HDF5's error stack says of the last failed call, the innermost cause first, and clears it.
/// Call within a LibraryScope and before any other HDF5 function.
std::string take_library_causes();

/// What to do about such causes where they say that a file is of a format unknown to this HDF5;
/// `otherwise` where they don't.
std::string advice_on(const std::string& causes, const std::string& otherwise);

/// Throws an Error whose reason is HDF5's error stack.
[[noreturn]] void throw_library_error(const std::string& problem,
                                      const std::string& suggestion = {});

/// Returns `result`, HDF5's identifier, count or status; throws an Error where it is negative.
template <class Result>
Result require(Result result, const std::string& problem) {
  if (result < 0) throw_library_error(problem);
  return result;
}

}  // namespace warpfold::io
