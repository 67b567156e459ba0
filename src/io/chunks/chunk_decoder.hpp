#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// Names the filters that a ChunkDecoder of this build can't undo ("szip", "zfp"); empty if it can
/// undo all.
std::string undecodable_filters(const std::vector<Filter>& filters);

/// Undoes a dataset's filters without the HDF5 library. One object serves one thread.
class ChunkDecoder {
 public:
  /// Of chunks of `chunk_bytes` uncompressed bytes in elements of `element_bytes`.
  ChunkDecoder(const std::vector<Filter>& filters, std::size_t element_bytes,
               std::uint64_t chunk_bytes);
  ~ChunkDecoder();
  ChunkDecoder(ChunkDecoder&&) noexcept;
  ChunkDecoder& operator=(ChunkDecoder&&) noexcept;

  /// Fills `out`, chunk_bytes long. Returns whether the bytes are still shuffled: a shuffle that
  /// was applied first is left to whoever takes the elements apart. Throws an Error beginning with
  /// `problem` for bytes that no such filters produced and for a wrong checksum.
  bool decode(std::span<const std::byte> stored, std::uint32_t skipped_filters,
              std::span<std::byte> out, const std::string& problem);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace warpfold::io
