#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "io/filters/filter.hpp"
#include "io/filters/filter_step.hpp"
#include "io/filters/narrow_elements.hpp"

namespace warpfold::io {

/// Returns how filters compress chunks of `chunk_bytes` bytes, if that and checksums are all that
/// they do after a shuffle as ChunkDecoder::decode() leaves it, and a GPU can undo it.
std::optional<CompressedForm> left_form(const std::vector<Filter>& filters,
                                        std::size_t element_bytes, std::uint64_t chunk_bytes);

/// Undoes a dataset's filters without the HDF5 library. One object serves one thread.
class ChunkDecoder {
 public:
  /// Decodes chunks of `chunk_bytes` uncompressed bytes in elements of `element_bytes`, which are
  /// widened where they are narrow. `whole`: undoes a shuffle, too. Throws Error for a filter that
  /// this build can't undo.
  ChunkDecoder(const std::vector<Filter>& filters, std::size_t element_bytes,
               std::uint64_t chunk_bytes, NarrowElements narrow = {}, bool whole = false);

  /// A chunk's bytes, at most still shuffled and then compressed.
  struct LeftCompressed {
    std::span<const std::byte> bytes;  ///< part of those stored
    bool compressed = false;
    bool shuffled = false;
  };

  /// Verifies the checksums behind a stream of what left_form() tells. Throws as decode() does, of
  /// what it sees.
  LeftCompressed without_checksums(std::span<const std::byte> stored, std::uint32_t skipped_filters,
                                   const std::string& problem);

  /// Fills `out`, chunk_bytes long. Returns whether the bytes are still shuffled: a shuffle that
  /// was applied first is left to whoever takes the elements apart. Throws an Error beginning with
  /// `problem` for bytes that no such filters produced and for a wrong checksum.
  bool decode(std::span<const std::byte> stored, std::uint32_t skipped_filters,
              std::span<std::byte> out, const std::string& problem);

 private:
  bool undo(std::span<const std::byte> stored, std::uint32_t skipped_filters,
            std::span<std::byte> out);
  std::span<const std::byte> undo_checksums(std::span<const std::byte> stored,
                                            std::uint32_t skipped_filters);
  void require_chunk(std::span<const std::byte> bytes) const;
  bool leaves_shuffle(std::uint32_t skipped_filters) const;
  std::size_t compressor() const { return leaves_shuffle_ ? 1 : 0; }
  std::size_t first_applied(std::size_t filter, std::uint32_t skipped_filters) const;
  std::span<std::byte> scratch(std::size_t which, std::uint64_t bytes);

  std::vector<std::unique_ptr<FilterStep>> steps_;
  std::vector<std::uint64_t> max_bytes_before_;  ///< each filter was applied
  std::size_t element_bytes_;
  std::uint64_t chunk_bytes_;
  NarrowElements narrow_;
  bool leaves_shuffle_ = false;
  bool moves_bytes_ = false;  ///< whether a shuffle changes anything
  std::array<std::vector<std::byte>, 2> scratch_;
};

}  // namespace warpfold::io
