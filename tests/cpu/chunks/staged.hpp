#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include "core/layout/random_grids.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cpu/engines/elements.hpp"

/// Chunks as a reader leaves them in staging memory.
namespace warpfold::cpu::testing {

/// A small chunked dataset, some of whose chunks were never written, and what is selected of it.
template <class T>
class ChunkedDataset {
 public:
  ChunkedDataset(const warpfold::testing::ChunkedShape& shape, Kind kind, ElementFormat format,
                 std::mt19937_64& random, const Selection& selection = {})
      : grid_(chunk_grid(shape.shape, shape.chunk_shape, selection)),
        places_(warpfold::testing::places_of(shape)),
        stored_(make_elements<T>(kind, shape.elements(), random())),
        format_(format),
        written_(chunk_grid(shape.shape, shape.chunk_shape).chunks()),
        fill_(make_elements<T>(kind, 1, random()).front()) {
    for (std::size_t chunk = 0; chunk < written_.size(); ++chunk)
      written_[chunk] = random() % 6 != 0;
    for (std::size_t i = 0; i < stored_.size(); ++i)
      if (!written_[places_[i].chunk]) stored_[i] = fill_;
    elements_ = stored_;
    if (selection.empty()) return;
    elements_.clear();
    for (const std::uint64_t index : warpfold::testing::selected_indices(shape.shape, selection))
      elements_.push_back(stored_[index]);
  }

  const ChunkGrid& grid() const { return grid_; }
  const std::vector<T>& elements() const { return elements_; }  ///< selected ones

  std::array<std::byte, 8> fill() const {
    std::array<std::byte, 8> bytes = {};
    put_elements(std::vector<T>{fill_}, format_.order, bytes.data());
    return bytes;
  }

  /// Puts chunks into `staging` at any distance from one another, some of them shuffled.
  std::vector<StagedChunk> stage(ChunkRun run, std::vector<std::byte>& staging,
                                 std::mt19937_64& random) const {
    std::vector<StagedChunk> chunks;
    staging.clear();
    for (std::uint64_t position = run.first; position < run.end(); ++position) {
      const std::uint64_t number = grid_.number_at(position);
      const bool shuffles = random() % 2 == 0;
      StagedChunk chunk{number, 0, ChunkEncoding::unwritten};
      if (written_[number]) {
        chunk.encoding = shuffles ? ChunkEncoding::shuffled : ChunkEncoding::plain;
        const std::vector<std::byte> bytes = bytes_of(chunk);
        staging.resize(staging.size() + random() % 10);
        chunk.source = staging.size();
        staging.insert(staging.end(), bytes.begin(), bytes.end());
      }
      chunks.push_back(chunk);
    }
    std::shuffle(chunks.begin(), chunks.end(), random);
    return chunks;
  }

 private:
  /// Returns the bytes of a chunk; those beyond the dataset are garbage.
  std::vector<std::byte> bytes_of(const StagedChunk& chunk) const {
    const std::uint64_t n = grid_.chunk_elements();
    std::vector<T> of_chunk(n, std::bit_cast<T>(static_cast<Word<T>>(0x7ffe7f80a5a5a5a5)));
    for (std::size_t i = 0; i < stored_.size(); ++i)
      if (places_[i].chunk == chunk.number) of_chunk[places_[i].place] = stored_[i];
    std::vector<std::byte> bytes(n * sizeof(T));
    put_elements(of_chunk, format_.order, bytes.data());
    return chunk.encoding == ChunkEncoding::shuffled ? shuffled(bytes) : bytes;
  }

  static std::vector<std::byte> shuffled(const std::vector<std::byte>& bytes) {
    std::vector<std::byte> planes(bytes.size());
    const std::size_t n = bytes.size() / sizeof(T);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      planes[i % sizeof(T) * n + i / sizeof(T)] = bytes[i];
    return planes;
  }

  ChunkGrid grid_;
  std::vector<warpfold::testing::ChunkPlace> places_;
  std::vector<T> stored_;
  std::vector<T> elements_;
  ElementFormat format_;
  std::vector<bool> written_;
  T fill_;
};

}  // namespace warpfold::cpu::testing
