#include "cpu/chunks/chunk_assembly.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/chunks/chunk_rows.hpp"

namespace warpfold::cpu {

ChunkElements::ChunkElements(const Kernels& kernels, std::size_t element_bytes,
                             const StagedChunks& chunks, const StagedChunk& chunk,
                             const std::byte* staging)
    : kernels_(kernels), chunks_(chunks), element_bytes_(element_bytes) {
  if (chunk.encoding != ChunkEncoding::unwritten) data_ = staging + chunk.source;
  plane_bytes_ = chunks.grid.chunk_elements();
  state_ = state_of(chunk);
}

ChunkElements::State ChunkElements::state_of(const StagedChunk& chunk) const {
  if (data_ == nullptr) return State::unwritten;
  if (chunk.encoding == ChunkEncoding::shuffled && element_bytes_ > 1) return State::shuffled;
  return reinterpret_cast<std::uintptr_t>(data_) % element_bytes_ == 0 ? State::ready
                                                                       : State::misaligned;
}

const std::byte* ChunkElements::in_place(std::uint64_t first) const {
  return state_ == State::ready ? data_ + first * element_bytes_ : nullptr;
}

void ChunkElements::copy(std::uint64_t first, std::uint64_t n, std::byte* to) const {
  switch (state_) {
    case State::ready:
    case State::misaligned:
      std::memcpy(to, data_ + first * element_bytes_, n * element_bytes_);
      return;
    case State::shuffled:
      unshuffle(first, n, to);
      return;
    case State::unwritten:
      fill(n, to);
      return;
  }
}

void ChunkElements::unshuffle(std::uint64_t first, std::uint64_t n, std::byte* to) const {
  const auto* planes = reinterpret_cast<const std::uint8_t*>(data_) + first;
  switch (element_bytes_) {
    case 2:
      return kernels_.unshuffle16(planes, plane_bytes_, n, reinterpret_cast<std::uint16_t*>(to));
    case 4:
      return kernels_.unshuffle32(planes, plane_bytes_, n, reinterpret_cast<std::uint32_t*>(to));
    default:
      return kernels_.unshuffle64(planes, plane_bytes_, n, reinterpret_cast<std::uint64_t*>(to));
  }
}

void ChunkElements::fill(std::uint64_t n, std::byte* to) const {
  if (n == 0) return;
  const std::uint64_t bytes = n * element_bytes_;
  std::memcpy(to, chunks_.fill.data(), element_bytes_);
  for (std::uint64_t filled = element_bytes_; filled < bytes; filled *= 2)
    std::memcpy(to + filled, to, std::min(filled, bytes - filled));
}

namespace {

/// Calls visit(elements of a chunk, one of its rows) for all rows of all chunks.
template <class Visit>
void for_each_row(const Kernels& kernels, std::size_t element_bytes, const StagedChunks& chunks,
                  const std::byte* staging, Visit&& visit) {
  for (const StagedChunk& chunk : chunks.chunks) {
    const ChunkElements elements(kernels, element_bytes, chunks, chunk, staging);
    ChunkRows(chunks.grid, chunks.target, chunk.number).for_each([&](const ChunkRow& row) {
      visit(elements, row);
    });
  }
}

}  // namespace

void assemble(const Kernels& kernels, std::size_t element_bytes, const StagedChunks& chunks,
              const std::byte* staging, std::byte* target) {
  for_each_row(kernels, element_bytes, chunks, staging,
               [&](const ChunkElements& elements, const ChunkRow& row) {
                 elements.copy(row.source, row.elements, target + row.target * element_bytes);
               });
}

void assemble(const Kernels& kernels, std::size_t element_bytes, const StagedChunks& chunks,
              const std::byte* staging, std::byte* block,
              const std::function<void(std::uint64_t place, std::size_t n)>& take) {
  for_each_row(kernels, element_bytes, chunks, staging,
               [&](const ChunkElements& elements, const ChunkRow& row) {
                 for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
                   const auto n = std::min<std::uint64_t>(block_elements, row.elements - done);
                   elements.copy(row.source + done, n, block);
                   take(row.target + done, n);
                 }
               });
}

}  // namespace warpfold::cpu
