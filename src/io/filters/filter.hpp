#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpfold::io {

/// A filter of a dataset's chunks.
struct Filter {
  int id = 0;
  std::string name;
  bool available = true;             ///< to the HDF5 library
  std::vector<unsigned> parameters;  ///< HDF5's "client data"
};

/// Returns one of a filter's parameters; 0 where it has no such one.
inline unsigned parameter(const Filter& filter, std::size_t place) {
  return place < filter.parameters.size() ? filter.parameters[place] : 0;
}

/// Filters by their number. Source: HDF5's H5Zpublic.h and the HDF Group's list of registered
/// filters.
namespace filter_id {

inline constexpr int deflate = 1;
inline constexpr int shuffle = 2;
inline constexpr int fletcher32 = 3;
inline constexpr int szip = 4;
inline constexpr int nbit = 5;
inline constexpr int scale_offset = 6;
inline constexpr int lzf = 32000;
inline constexpr int blosc = 32001;
inline constexpr int lz4 = 32004;
inline constexpr int bitshuffle = 32008;
inline constexpr int zstd = 32015;
inline constexpr int blosc2 = 32026;

}  // namespace filter_id
}  // namespace warpfold::io
