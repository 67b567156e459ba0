#include "cpu/reduce/chunk_reducer.hpp"

#include <algorithm>

#include "cpu/chunks/chunk_assembly.hpp"
#include "cpu/chunks/chunk_rows.hpp"

namespace warpfold::cpu {
namespace {

/// Reduces one chunk's elements, packed in blocks; those that lie ready in long rows, where they
/// are.
class ChunkReduce {
 public:
  ChunkReduce(const ChunkElements& elements, const BoxIndices& indices, std::size_t element_bytes,
              std::byte* block, RangeSink& into, std::uint64_t first_place = 0)
      : elements_(elements),
        indices_(indices),
        element_bytes_(element_bytes),
        block_(block),
        into_(into),
        place_(first_place) {}

  void add(const ChunkRow& row) {
    if (row.elements >= long_row) {
      if (const std::byte* ready = elements_.in_place(row.source)) {
        flush();
        reduce(ready, row.elements);
        return;
      }
    }
    for (std::uint64_t done = 0; done < row.elements;) {
      const std::uint64_t n = std::min(block_elements - packed_, row.elements - done);
      elements_.copy(row.source + done, n, block_ + packed_ * element_bytes_);
      packed_ += n;
      done += n;
      if (packed_ == block_elements) flush();
    }
  }

  void flush() {
    if (packed_ > 0) reduce(block_, packed_);
    packed_ = 0;
  }

 private:
  static constexpr std::uint64_t long_row = block_elements / 4;

  void reduce(const std::byte* elements, std::uint64_t n) {
    into_.reduce(elements, n, {indices_, place_});
    place_ += n;
  }

  const ChunkElements& elements_;
  const BoxIndices& indices_;
  std::size_t element_bytes_;
  std::byte* block_;
  RangeSink& into_;
  std::uint64_t packed_ = 0;
  std::uint64_t place_;  ///< place of the next element to be reduced
};

}  // namespace

ChunkReducer::ChunkReducer(const Kernels& kernels, std::size_t element_bytes)
    : kernels_(kernels), element_bytes_(element_bytes), block_(block_elements * element_bytes) {}

void ChunkReducer::reduce(const StagedChunks& chunks, const std::byte* staging, RangeSink& into) {
  std::byte* block = block_.span().data();
  if (const std::optional<StagedRun> run = run_of(chunks)) {
    const ChunkElements elements(kernels_, element_bytes_, chunks, chunks.chunks.front(), staging);
    ChunkReduce reduce(elements, chunks.indices, element_bytes_, block, into, run->place);
    reduce.add({.elements = run->elements});
    return reduce.flush();
  }
  for (const StagedChunk& chunk : chunks.chunks) {
    const ChunkRun alone{chunks.grid.position_of(chunk.number).value(), 1};
    const ChunkElements elements(kernels_, element_bytes_, chunks, chunk, staging);
    const BoxIndices of_chunk = box_indices(chunks.grid, alone);
    ChunkReduce reduce(elements, of_chunk, element_bytes_, block, into);
    ChunkRows(chunks.grid, box_target(chunks.grid, alone), chunk.number)
        .for_each([&](const ChunkRow& row) { reduce.add(row); });
    reduce.flush();
  }
}

}  // namespace warpfold::cpu
