#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/layout/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// The elements of one chunk in staging memory.
class ChunkElements {
 public:
  /// Takes `chunk`, one of `chunks`, whose staging memory begins at `staging`.
  ChunkElements(const Kernels& kernels, std::size_t element_bytes, const StagedChunks& chunks,
                const StagedChunk& chunk, const std::byte* staging);

  /// Brings elements [first, first + n) to `to`, aligned to their size.
  void copy(std::uint64_t first, std::uint64_t n, std::byte* to) const;

  /// Returns where elements from `first` on lie ready, aligned to their size; null where they
  /// don't.
  const std::byte* in_place(std::uint64_t first) const;

 private:
  enum class State { ready, misaligned, shuffled, unwritten };

  State state_of(const StagedChunk& chunk) const;
  void unshuffle(std::uint64_t first, std::uint64_t n, std::byte* to) const;
  void fill(std::uint64_t n, std::byte* to) const;

  const Kernels& kernels_;
  const StagedChunks& chunks_;
  std::size_t element_bytes_;
  const std::byte* data_ = nullptr;
  std::uint64_t plane_bytes_ = 0;
  State state_;
};

/// Brings the elements of all `chunks` to their places in `target`.
void assemble(const Kernels& kernels, std::size_t element_bytes, const StagedChunks& chunks,
              const std::byte* staging, std::byte* target);

/// Brings the elements of all `chunks` to `block`, at most block_elements at a time, and calls
/// take(place of the first, how many) for each time.
void assemble(const Kernels& kernels, std::size_t element_bytes, const StagedChunks& chunks,
              const std::byte* staging, std::byte* block,
              const std::function<void(std::uint64_t place, std::size_t n)>& take);

}  // namespace warpfold::cpu
