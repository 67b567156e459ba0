#pragma once

#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "cuda/inflate/words.hpp"

/// LZ4 blocks (github.com/lz4/lz4, doc/lz4_Block_format.md), decoded by a warp each, and bits put
/// back that HDF5's bitshuffle filter had spread over planes.
///
/// The code is compiled for GPUs and for the host, by a policy `Warp` as inflate_stream.hpp has it.
namespace warpfold::cuda::lz4 {

enum class BlockForm : std::uint32_t { stored, compressed };

/// A block that a chunk has.
struct Block {
  const std::uint8_t* stored = nullptr;
  std::uint8_t* out = nullptr;  ///< aligned to 8 bytes if it holds bit planes
  std::uint32_t stored_bytes = 0;
  std::uint32_t out_bytes = 0;  ///< that it is to make
  std::uint32_t chunk = 0;      ///< which one it is a part of
  BlockForm form = BlockForm::stored;
};

/// A chunk as HDF5's filter 32004 or 32008 makes it. Big-endian: its bytes in 64 bits, a block's in
/// 32; then each block's stored bytes in 32 bits before the block. Of filter 32004 one that has its
/// full size is as it is to be; of 32008 less than 8 elements at the end are so, without a size.
struct Chunk {
  const std::uint8_t* stored = nullptr;
  std::uint8_t* out = nullptr;  ///< aligned to 8 bytes
  std::uint32_t stored_bytes = 0;
};

/// Properties that all chunks share.
struct ChunkForm {
  std::uint32_t bytes = 0;              ///< that one makes
  std::uint32_t blocks = 0;             ///< maximum per chunk
  std::uint32_t bit_element_bytes = 0;  ///< for elements stored as bit planes; 0: none
};

/// Elements whose bits share a byte.
inline constexpr std::uint32_t bit_group = 8;

/// A block must end with so many literals, and its last match begin so far before its end; before
/// the end of what is stored there is room for a match's token, distance and the last literals.
inline constexpr std::uint32_t last_literals = 5;
inline constexpr std::uint32_t last_match = 12;
inline constexpr std::uint32_t least_behind_literals = 2 + 1 + last_literals;

/// A block's bytes, in turn.
class Stored {
 public:
  WARPFOLD_WARP_CODE Stored(const std::uint8_t* bytes, std::uint32_t count)
      : bytes_(bytes), left_(count) {}

  WARPFOLD_WARP_CODE std::uint32_t left() const { return left_; }
  WARPFOLD_WARP_CODE const std::uint8_t* here() const { return bytes_; }

  /// To be called only where there are so many.
  WARPFOLD_WARP_CODE void skip(std::uint32_t count) {
    bytes_ += count;
    left_ -= count;
  }
  WARPFOLD_WARP_CODE std::uint32_t byte() {
    const std::uint32_t value = *bytes_;
    skip(1);
    return value;
  }

  /// Adds what follows a field of four bits to the field: bytes up to one that is not 255. Returns
  /// more than `most` where that is exceeded or the bytes end.
  WARPFOLD_WARP_CODE std::uint32_t length(std::uint32_t field, std::uint32_t most) {
    if (field < 15) return field;
    for (std::uint32_t value = 255; value == 255;) {
      if (left_ == 0 || field > most) return most + 1;
      value = byte();
      field += value;
    }
    return field;
  }

 private:
  const std::uint8_t* bytes_;
  std::uint32_t left_;
};

/// Takes a chunk apart, into form.blocks blocks, of which there may be empty ones at the end.
/// Returns whether its blocks are as it says and as decode() and gather_bits() can take them.
class BlockList {
 public:
  WARPFOLD_WARP_CODE BlockList(const Chunk& chunk, std::uint32_t number, const ChunkForm& form,
                               Block* blocks)
      : left_(chunk.stored, chunk.stored_bytes),
        out_(chunk.out),
        number_(number),
        form_(form),
        blocks_(blocks) {}

  WARPFOLD_WARP_CODE bool fill() {
    const bool good = list_all();
    for (std::uint32_t i = good ? listed_ : 0; i < form_.blocks; ++i) blocks_[i] = {};
    return good;
  }

 private:
  WARPFOLD_WARP_CODE bool list_all() {
    if (left_.left() < 12) return false;
    const std::uint32_t beyond = integer();
    const std::uint32_t bytes = integer();
    const std::uint32_t block_bytes = integer();
    if (beyond != 0 || bytes != form_.bytes || block_bytes == 0) return false;
    std::uint32_t rest = 0;
    if (form_.bit_element_bytes != 0) {
      const std::uint32_t group_bytes = bit_group * form_.bit_element_bytes;
      if (block_bytes > max_bit_plane_bytes || block_bytes % group_bytes != 0) return false;
      rest = bytes % group_bytes;
    }
    for (std::uint32_t left = bytes - rest; left > 0;) {
      const std::uint32_t out_bytes = block_bytes < left ? block_bytes : left;
      if (left_.left() < 4) return false;
      const std::uint32_t stored_bytes = integer();
      const bool is_stored = form_.bit_element_bytes == 0 && stored_bytes == out_bytes;
      if (!list(stored_bytes, out_bytes, is_stored)) return false;
      left -= out_bytes;
    }
    return rest == 0 || list(rest, rest, true);
  }

  /// Returns whether there is room and so much stored.
  WARPFOLD_WARP_CODE bool list(std::uint32_t stored_bytes, std::uint32_t out_bytes,
                               bool is_stored) {
    if (listed_ == form_.blocks || stored_bytes > left_.left()) return false;
    blocks_[listed_++] = {left_.here(), out_,
                          stored_bytes, out_bytes,
                          number_,      is_stored ? BlockForm::stored : BlockForm::compressed};
    left_.skip(stored_bytes);
    out_ += out_bytes;
    return true;
  }

  WARPFOLD_WARP_CODE std::uint32_t integer() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | left_.byte();
    return value;
  }

  Stored left_;
  std::uint8_t* out_;
  std::uint32_t number_;
  const ChunkForm& form_;
  Block* blocks_;
  std::uint32_t listed_ = 0;
};

/// Repeats `length` bytes from `distance` before `to` on, which may run into what is written.
template <class Warp>
WARPFOLD_WARP_CODE void repeat(std::uint8_t* to, std::uint32_t distance, std::uint32_t length) {
  const std::uint8_t* from = to - distance;
  if (distance >= length) {
    for (std::uint32_t i = Warp::lane(); i < length; i += 32) to[i] = from[i];
  } else {
    for (std::uint32_t i = Warp::lane(); i < length; i += 32) to[i] = from[i % distance];
  }
}

/// Decodes an LZ4 block. Returns whether it is one that makes as many bytes as it should; never
/// writes more.
template <class Warp>
WARPFOLD_WARP_CODE bool decode(Stored stored, std::uint8_t* out, std::uint32_t out_bytes) {
  std::uint32_t made = 0;
  while (stored.left() > 0) {
    const std::uint32_t token = stored.byte();
    const std::uint32_t literals = stored.length(token >> 4, out_bytes - made);
    if (literals > out_bytes - made || literals > stored.left()) return false;
    for (std::uint32_t i = Warp::lane(); i < literals; i += 32) out[made + i] = stored.here()[i];
    stored.skip(literals);
    made += literals;
    if (stored.left() == 0) return made == out_bytes;
    if (out_bytes - made < last_match || stored.left() < least_behind_literals) return false;
    const std::uint32_t low = stored.byte();
    const std::uint32_t distance = low | stored.byte() << 8;
    const std::uint32_t most = out_bytes - made - last_literals;
    const std::uint32_t length = stored.length(token & 15, most) + 4;
    if (distance == 0 || distance > made || length > most) return false;
    Warp::synchronize();
    repeat<Warp>(out + made, distance, length);
    made += length;
  }
  return false;
}

/// Returns the 8 x 8 bits with bit i of byte j in place of bit j of byte i.
WARPFOLD_WARP_CODE inline std::uint64_t transposed(std::uint64_t bits) {
  const auto exchange = [&bits](std::uint32_t distance, std::uint64_t mask) {
    const std::uint64_t moved = (bits >> distance ^ bits) & mask;
    bits ^= moved ^ moved << distance;
  };
  exchange(7, 0x00aa00aa00aa00aaULL);
  exchange(14, 0x0000cccc0000ccccULL);
  exchange(28, 0x00000000f0f0f0f0ULL);
  return bits;
}

/// Makes elements of planes of their bits, the least significant first. `bytes` is a multiple of 8
/// elements'.
template <class Warp, std::uint32_t element_bytes>
WARPFOLD_WARP_CODE void gather_bits(const std::uint8_t* planes, std::uint32_t bytes,
                                    std::uint8_t* out) {
  const std::uint32_t plane_bytes = bytes / (element_bytes * bit_group);
  for (std::uint32_t group = Warp::lane(); group < plane_bytes; group += 32) {
    std::uint64_t of_byte[element_bytes];  // of eight elements
    for (std::uint32_t b = 0; b < element_bytes; ++b) {
      std::uint64_t bits = 0;
      for (std::uint32_t i = 0; i < bit_group; ++i)
        bits |= std::uint64_t{planes[(b * bit_group + i) * plane_bytes + group]} << 8 * i;
      of_byte[b] = transposed(bits);
    }
    auto* const words = reinterpret_cast<std::uint64_t*>(out + group * bit_group * element_bytes);
    for (std::uint32_t word = 0; word < element_bytes; ++word) {
      std::uint64_t value = 0;
      for (std::uint32_t i = 0; i < 8; ++i) {
        const std::uint32_t place = word * 8 + i;
        const std::uint64_t byte =
            of_byte[place % element_bytes] >> 8 * (place / element_bytes) & 255;
        value |= byte << 8 * i;
      }
      words[word] = value;
    }
  }
}

/// Makes a block's bytes. `planes` is memory of the warp's own for max_bit_plane_bytes; there are
/// no planes where `element_bytes` is 0. Returns whether it could.
template <class Warp, std::uint32_t element_bytes>
WARPFOLD_WARP_CODE bool make(const Block& block, [[maybe_unused]] std::uint8_t* planes) {
  if (block.form == BlockForm::stored) {
    for (std::uint32_t i = Warp::lane(); i < block.out_bytes; i += 32)
      block.out[i] = block.stored[i];
    return true;
  }
  const Stored stored(block.stored, block.stored_bytes);
  if constexpr (element_bytes == 0) {
    return decode<Warp>(stored, block.out, block.out_bytes);
  } else {
    const bool good = decode<Warp>(stored, planes, block.out_bytes);
    Warp::synchronize();
    if (good) gather_bits<Warp, element_bytes>(planes, block.out_bytes, block.out);
    Warp::synchronize();
    return good;
  }
}

}  // namespace warpfold::cuda::lz4
