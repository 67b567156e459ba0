#include "io/chunks/chunk_cache.hpp"

#include <algorithm>

#include "io/hdf5/hdf5_error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t slots_per_chunk = 100;
constexpr std::uint64_t max_slots = std::uint64_t{4} << 20;

bool is_prime(std::uint64_t number) {
  if (number < 2) return false;
  for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

std::uint64_t prime_from(std::uint64_t number) {
  while (!is_prime(number)) ++number;
  return number;
}

}  // namespace

ChunkCache chunk_cache_for(std::span<const std::uint64_t> shape,
                           std::span<const std::uint64_t> chunk_shape, std::size_t element_bytes) {
  std::uint64_t chunk_bytes = element_bytes;
  for (const std::uint64_t extent : chunk_shape) chunk_bytes *= extent;
  const std::uint64_t max_chunks = std::max<std::uint64_t>(1, max_bytes / chunk_bytes);
  std::uint64_t chunks = 1;
  for (std::size_t d = 1; d < shape.size() && chunks < max_chunks; ++d) {
    const std::uint64_t along = shape[d] / chunk_shape[d] + (shape[d] % chunk_shape[d] != 0);
    chunks = std::min(max_chunks, chunks * std::min(along, max_chunks));
  }
  chunks = std::max<std::uint64_t>(1, chunks);
  return {static_cast<std::size_t>(chunks * chunk_bytes),
          static_cast<std::size_t>(prime_from(std::min(chunks * slots_per_chunk, max_slots)))};
}

PropertiesHandle access_with(ChunkCache cache) {
  const char* problem = "cannot set up the chunk cache";
  // Chunks that were read or written in full leave first: they are not needed again.
  constexpr double full_chunks_leave_first = 1.0;
  PropertiesHandle access(require(H5Pcreate(H5P_DATASET_ACCESS), problem));
  require(H5Pset_chunk_cache(access.get(), cache.slots, cache.bytes, full_chunks_leave_first),
          problem);
  return access;
}

}  // namespace warpfold::io
