#include "io/filters/bitshuffle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/filters/steps.hpp"

namespace warpfold::io {
namespace {

/// Elements whose bits share a byte.
constexpr std::size_t group = 8;

/// Block sizes that the filter chooses itself.
constexpr std::size_t default_block_bytes = 8192;
constexpr std::size_t min_default_elements = 128;

std::size_t default_block_elements(std::size_t element_bytes) {
  if (element_bytes == 0) return group;
  const std::size_t fitting = default_block_bytes / element_bytes;
  return std::max(fitting - fitting % group, min_default_elements);
}

/// Vector of which compilers keep eight in registers.
using Vector = std::uint64_t __attribute__((vector_size(16)));
using Rows = std::array<Vector, group>;

/// Exchanges, in each column of bytes, bit i of row j with bit j of row i.
void transpose_bits(Rows& rows) {
  constexpr std::array<std::uint64_t, 3> masks{0x5555555555555555U, 0x3333333333333333U,
                                               0x0f0f0f0f0f0f0f0fU};
  for (unsigned step = 0; step < masks.size(); ++step) {
    const unsigned distance = 1U << step;
    for (std::size_t low = 0; low < group; ++low) {
      if ((low & distance) != 0) continue;
      const Vector moved = ((rows[low] >> distance) ^ rows[low + distance]) & masks[step];
      rows[low + distance] ^= moved;
      rows[low] ^= moved << distance;
    }
  }
}

/// The same for as many bytes of eight rows that are `stride` bytes apart, vector_bytes at most.
template <class Bytes>
void transpose_bits(const std::byte* from, std::size_t stride, Bytes bytes, std::byte* to) {
  Rows rows{};
  for (std::size_t i = 0; i < group; ++i) std::memcpy(&rows[i], from + i * stride, bytes);
  transpose_bits(rows);
  for (std::size_t i = 0; i < group; ++i) std::memcpy(to + i * stride, &rows[i], bytes);
}

/// Makes of eight planes, of the bits of some bytes, as many planes of bytes: the first of each
/// eight bytes, then the second ones, ...
void transpose_planes(const std::byte* bit_planes, std::size_t plane_bytes, std::byte* out) {
  constexpr std::integral_constant<std::size_t, sizeof(Vector)> vector_bytes;
  const std::size_t whole = plane_bytes - plane_bytes % vector_bytes;
  for (std::size_t at = 0; at < whole; at += vector_bytes)
    transpose_bits(bit_planes + at, plane_bytes, vector_bytes, out + at);
  if (whole < plane_bytes)
    transpose_bits(bit_planes + whole, plane_bytes, plane_bytes - whole, out + whole);
}

class BitshuffleStep : public FilterStep {
 public:
  BitshuffleStep(BitshuffleParameters parameters, std::unique_ptr<BlockDecoder> blocks)
      : element_bytes_(parameters.element_bytes),
        block_elements_(parameters.block_elements),
        blocks_(std::move(blocks)) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    return blocks_ ? undo_compressed(stored, out) : undo_plain(stored, out);
  }

 private:
  /// Calls take(bytes, out) for each block's part of `out` and copies what comes last.
  template <class Take, class TakeRest>
  void for_each_block(std::span<std::byte> out, std::size_t block_elements, Take take,
                      TakeRest take_rest) const {
    if (out.size() % element_bytes_ != 0) {
      throw DamagedBytes{"its bitshuffle data end in a part of an element"};
    }
    const std::size_t grouped = out.size() / element_bytes_ / group * group;
    for (std::size_t first = 0; first < grouped; first += block_elements) {
      const std::size_t count = std::min(block_elements, grouped - first);
      take(out.subspan(first * element_bytes_, count * element_bytes_));
    }
    take_rest(out.subspan(grouped * element_bytes_));
  }

  std::span<const std::byte> undo_plain(std::span<const std::byte> stored,
                                        std::span<std::byte> out) {
    if (stored.size() > out.size()) throw DamagedBytes{"it is longer than a chunk"};
    const auto bytes = out.first(stored.size());
    std::size_t done = 0;
    const auto next = [&](std::size_t count) {
      return stored.subspan(std::exchange(done, done + count), count);
    };
    for_each_block(
        bytes, block_elements_,
        [&](std::span<std::byte> block) { unshuffle_bits(next(block.size()), block); },
        [&](std::span<std::byte> rest) { copy(next(rest.size()), rest); });
    return bytes;
  }

  std::span<const std::byte> undo_compressed(std::span<const std::byte> stored,
                                             std::span<std::byte> out) {
    BigEndianReader reader(stored);
    const std::uint64_t bytes = reader.u64();
    const std::size_t block_bytes = reader.u32();
    if (bytes > out.size()) throw DamagedBytes{"its bitshuffle data are longer than a chunk"};
    const std::size_t block_elements = block_bytes / element_bytes_;
    if (block_elements == 0 || block_elements % group != 0) {
      throw DamagedBytes{"its bitshuffle blocks have " + std::to_string(block_bytes) + " bytes"};
    }
    for_each_block(
        out.first(bytes), block_elements,
        [&](std::span<std::byte> block) {
          planes_.resize(block.size());
          if (blocks_->decode(reader.bytes(reader.u32()), planes_) != block.size()) {
            throw DamagedBytes{"one of its bitshuffle blocks is too short"};
          }
          unshuffle_bits(planes_, block);
        },
        [&](std::span<std::byte> rest) { copy(reader.bytes(rest.size()), rest); });
    return out.first(bytes);
  }

  void unshuffle_bits(std::span<const std::byte> bit_planes, std::span<std::byte> block) {
    const std::size_t elements = block.size() / element_bytes_;
    eighths_.resize(elements);
    byte_planes_.resize(block.size());
    const std::span<std::byte> byte_planes(byte_planes_);
    for (std::size_t first = 0; first < block.size(); first += elements) {
      transpose_planes(bit_planes.data() + first, elements / group, eighths_.data());
      unshuffle(eighths_, group, byte_planes.subspan(first, elements));
    }
    unshuffle(byte_planes, element_bytes_, block);
  }

  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
  }

  std::size_t element_bytes_;
  std::size_t block_elements_;
  std::unique_ptr<BlockDecoder> blocks_;
  std::vector<std::byte> planes_;
  std::vector<std::byte> eighths_;
  std::vector<std::byte> byte_planes_;
};

}  // namespace

/// The filter has: version, its minor part, bytes of an element, elements of a block, compressor.
BitshuffleParameters bitshuffle_parameters(const Filter& filter) {
  const std::size_t element_bytes = parameter(filter, 2);
  const std::size_t block_elements = parameter(filter, 3);
  return {element_bytes,
          block_elements != 0 ? block_elements : default_block_elements(element_bytes),
          static_cast<BitshuffleCompressor>(parameter(filter, 4))};
}

std::unique_ptr<FilterStep> make_bitshuffle_step(BitshuffleParameters parameters,
                                                 std::unique_ptr<BlockDecoder> blocks) {
  return std::make_unique<BitshuffleStep>(parameters, std::move(blocks));
}

}  // namespace warpfold::io
