#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Decompresses blocks of one format; one object serves one thread.
class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;

  /// Returns the bytes made, at the start of `out`. Throws DamagedBytes; where `out` can't hold
  /// them, TooLong, as far as the format distinguishes these.
  virtual std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) = 0;
};

/// Makes a decoder of a filter's LZ4 blocks, zstd frames, blosc or blosc2 buffers by their library,
/// none where this build has no such library, or of LZF streams: a control byte below 32 begins
/// that many literals and one more; of others the upper 3 bits are the count less 2 of bytes that
/// were made before, 7 adding the next byte, and the lower 5 with another byte their distance
/// less 1.
std::unique_ptr<BlockDecoder> make_block_decoder(int filter);

/// A compressor makes what a filter stores; one object serves one thread.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Returns the bytes made, at the start of `out`; 0 where it can't hold them.
  virtual std::size_t compress(std::span<const std::byte> bytes, std::span<std::byte> out) = 0;
};

/// Makes a compressor to zstd frames, of level 1 (fastest) to 22 (smallest); none where this build
/// lacks the library.
std::unique_ptr<Compressor> make_zstd_compressor(int level);

/// Makes a decoder of blosc2's frames of one chunk, which may be an array in blocks. Codecs that
/// are plugins of the library are refused: it would start programs to find them.
std::unique_ptr<BlockDecoder> make_blosc2_decoder();

/// Undoes a filter whose chunk is one block; none without a decoder.
std::unique_ptr<FilterStep> make_stream_step(std::unique_ptr<BlockDecoder> decoder);

/// Undoes HDF5 filter 32004; none without a decoder. Big-endian: the chunk's bytes in 64 bits, a
/// block's in 32; then each block's stored bytes in 32 bits before the block, which is an LZ4 block
/// unless it has its full size.
std::unique_ptr<FilterStep> make_lz4_step(std::unique_ptr<BlockDecoder> lz4);

/// Takes a stream apart from its start; throws DamagedBytes where it is too short.
class BigEndianReader {
 public:
  explicit BigEndianReader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::uint64_t u64() { return integer(8); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }

  std::span<const std::byte> bytes(std::size_t count) {
    if (count > left_.size()) throw DamagedBytes{"it ends too early"};
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }

 private:
  std::uint64_t integer(std::size_t width) {
    std::uint64_t value = 0;
    for (const std::byte byte : bytes(width)) value = value << 8 | std::to_integer<unsigned>(byte);
    return value;
  }

  std::span<const std::byte> left_;
};

}  // namespace warpfold::io
