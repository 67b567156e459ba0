#pragma once

/// Filters by their number. Source: HDF5's H5Zpublic.h and the HDF Group's list of registered
/// filters.
namespace warpfold::io::filter_id {

inline constexpr int deflate = 1;
inline constexpr int shuffle = 2;
inline constexpr int fletcher32 = 3;
inline constexpr int lzf = 32000;
inline constexpr int lz4 = 32004;
inline constexpr int bitshuffle = 32008;
inline constexpr int zstd = 32015;

}  // namespace warpfold::io::filter_id
