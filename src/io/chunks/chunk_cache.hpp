#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/hdf5/hdf5_handle.hpp"

namespace warpfold::io {

/// The size of HDF5's cache of uncompressed chunks for one dataset.
struct ChunkCache {
  std::size_t bytes = 0;
  std::size_t slots = 1;  ///< of its hash table; a prime
};

/// A cache for access in row-major order: it holds one row of chunks (all chunks with the same
/// index along the first dimension), at most 256 MiB, but never less than one chunk, which HDF5 has
/// to hold in memory anyway.
ChunkCache chunk_cache_for(std::span<const std::uint64_t> shape,
                           std::span<const std::uint64_t> chunk_shape, std::size_t element_bytes);

/// The dataset access properties that ask for `cache`.
PropertiesHandle access_with(ChunkCache cache);

}  // namespace warpfold::io
