#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/results/accumulator.hpp"
#include "core/results/reducing.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/byte_order.hpp"

namespace warpfold::cuda {

using warpfold::testing::everything;
inline constexpr std::uint64_t tile = scan_order::tile_elements;

/// The elements' bytes as a file of that byte order holds them.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements,
                                ByteOrder order = native_byte_order) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const T element = order == native_byte_order ? elements[i] : byte_swapped(elements[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

/// Submits the bytes in slabs as large as the engine takes, all its threads in turn.
inline void reduce_into(StreamEngine& engine, const std::vector<std::byte>& bytes,
                        std::size_t element_bytes, std::uint64_t first_index = 0) {
  const std::size_t slab = engine.slab_elements() * element_bytes;
  int thread = 0;
  for (std::size_t first = 0; first < bytes.size(); first += slab) {
    const std::size_t size = std::min(slab, bytes.size() - first);
    const Ticket ticket = engine.take(thread);
    std::memcpy(ticket.memory.data(), bytes.data() + first, size);
    engine.submit(ticket,
                  staged_run({}, {0, size / element_bytes}, first_index + first / element_bytes));
    thread = (thread + 1) % engine.threads();
  }
}

/// Reduces them by three threads at least.
inline Accumulator reduce_all(Backend& backend, StagingPlan plan, ReduceNeeds needs,
                              const std::vector<std::byte>& bytes, std::uint64_t first_index = 0) {
  plan.threads = std::max(plan.threads, 3);
  const auto engine = backend.make_reduce_engine(plan, needs);
  reduce_into(*engine, bytes, size_of(plan.format.type), first_index);
  return engine->finish();
}

/// A plan of blocks whose pieces are packed, for `threads` readers and writers.
inline BlockEnginePlan packed_plan(ElementFormat format, std::uint64_t piece_elements,
                                   std::uint64_t block_elements, int threads = 1,
                                   const Decoding& decoding = {}) {
  return {{format, decoding, piece_elements, 0, Staging::packed, threads}, block_elements, threads};
}

struct ScanResult {
  std::vector<std::byte> bytes;
  std::optional<std::uint64_t> overflow;

  template <class Out>
  std::vector<Out> as() const {
    std::vector<Out> elements(bytes.size() / sizeof(Out));
    if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
};

/// Appends a total to the total of the blocks before: ties go to the earlier element.
inline void append(Accumulator& before, const Accumulator& total, std::uint64_t first_index) {
  const auto append_extremum = [first_index](Extremum& earlier, Extremum later) {
    if (!later.seen() || (earlier.seen() && earlier.key <= later.key)) return;
    later.index += first_index;
    earlier = later;
  };
  before.nan_count += total.nan_count;
  before.positive_infinities += total.positive_infinities;
  before.negative_infinities += total.negative_infinities;
  before.sum.add(total.sum);
  before.sum.normalize();
  append_extremum(before.minimum, total.minimum);
  append_extremum(before.maximum, total.maximum);
}

/// Loads the bytes into the block in pieces; its first element has index `first_index`.
inline void load_block(BlockEngine& engine, int block, std::span<const std::byte> bytes,
                       std::size_t element_bytes, std::uint64_t piece_elements,
                       std::uint64_t first_index = 0) {
  const std::uint64_t elements = bytes.size() / element_bytes;
  for (std::uint64_t offset = 0; offset < elements; offset += piece_elements) {
    const std::uint64_t count = std::min(piece_elements, elements - offset);
    const Ticket ticket = engine.take(0, block, {offset, count});
    std::memcpy(ticket.memory.data(), bytes.data() + offset * element_bytes, count * element_bytes);
    engine.submit(ticket, staged_run({}, {offset, count}, first_index));
  }
}

inline void append_output(ScanEngine& engine, int block, std::uint64_t elements,
                          std::uint64_t piece_elements, std::vector<std::byte>& to) {
  for (std::uint64_t offset = 0; offset < elements; offset += piece_elements) {
    const auto output =
        engine.output(0, block, offset, std::min(piece_elements, elements - offset));
    to.insert(to.end(), output.begin(), output.end());
  }
}

/// Scans the bytes block by block, in pieces of `piece_elements` (a multiple of a tile).
inline ScanResult scan_all(ScanEngine& engine, const std::vector<std::byte>& bytes,
                           const ScanSpec& spec, std::uint64_t piece_elements,
                           Accumulator before = Accumulator::empty(),
                           std::uint64_t first_index = 0) {
  const std::size_t element_bytes = size_of(spec.input.type);
  const std::uint64_t elements = bytes.size() / element_bytes;
  const std::uint64_t piece = std::min(piece_elements, engine.block_elements());
  ScanResult result;
  int block = 0;
  for (std::uint64_t first = 0; first < elements; first += engine.block_elements()) {
    const std::uint64_t count = std::min(engine.block_elements(), elements - first);
    const std::span part(bytes.data() + first * element_bytes, count * element_bytes);
    load_block(engine, block, part, element_bytes, piece, first_index + first);
    const Accumulator total = engine.total(block, first_index + first, count);
    const auto overflow = engine.scan(block, first_index + first, count, before);
    if (overflow && !result.overflow) result.overflow = overflow;
    append(before, total, first_index + first);
    append_output(engine, block, count, piece, result.bytes);
    block = (block + 1) % engine.blocks();
  }
  return result;
}

}  // namespace warpfold::cuda
