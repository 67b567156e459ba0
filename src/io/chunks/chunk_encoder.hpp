#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/filters/steps.hpp"
#include "warpfold/core/storage_options.hpp"

namespace warpfold::io {

/// A chunk as it is to be stored.
struct EncodedChunk {
  std::span<const std::byte> bytes;
  std::uint32_t skipped_filters = 0;  ///< bit i: filter i of the dataset's was not applied
};

/// Size of an encoded chunk, and what else HDF5 has to know to find a place for it.
struct ChunkSize {
  std::uint64_t bytes = 0;
  std::uint64_t skipped_filters = 0;  ///< as of an EncodedChunk

  ChunkSize(std::uint64_t stored, std::uint64_t skipped)
      : bytes(stored), skipped_filters(skipped) {}
  explicit ChunkSize(const EncodedChunk& chunk)
      : bytes(chunk.bytes.size()), skipped_filters(chunk.skipped_filters) {}
};

/// Applies a dataset's filters without the HDF5 library: shuffle, deflate or zstd, fletcher32,
/// those that are requested, in this order. One object serves one thread.
class ChunkEncoder {
 public:
  ChunkEncoder(const StorageOptions& storage, std::size_t element_bytes);

  /// Leaves out shuffle and compression where they don't make the chunk smaller. The answer is
  /// valid until the next call and as long as `chunk` is.
  EncodedChunk encode(std::span<const std::byte> chunk);

 private:
  std::span<const std::byte> shuffled(std::span<const std::byte> chunk);
  std::span<const std::byte> with_checksum(std::span<const std::byte> bytes);

  StorageOptions storage_;
  std::size_t element_bytes_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<std::byte> shuffled_;
  std::vector<std::byte> encoded_;
};

}  // namespace warpfold::io
