#include "io/filters/block_decoder.hpp"

#ifdef WARPFOLD_BLOSC
#include <blosc.h>
#endif
#ifdef WARPFOLD_LZ4
#include <lz4.h>
#endif
#ifdef WARPFOLD_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "io/filters/filter.hpp"

namespace warpfold::io {
namespace {

/// A stream of a compressor as a whole chunk.
class StreamStep : public FilterStep {
 public:
  explicit StreamStep(std::unique_ptr<BlockDecoder> decoder) : decoder_(std::move(decoder)) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    return out.first(decoder_->decode(stored, out));
  }

 private:
  std::unique_ptr<BlockDecoder> decoder_;
};

class Lz4Step : public FilterStep {
 public:
  explicit Lz4Step(std::unique_ptr<BlockDecoder> lz4) : lz4_(std::move(lz4)) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    BigEndianReader reader(stored);
    const std::uint64_t bytes = reader.u64();
    const std::size_t block_bytes = reader.u32();
    if (bytes > out.size()) throw DamagedBytes{"its LZ4 stream is longer than the chunk"};
    if (block_bytes == 0) throw DamagedBytes{"its LZ4 blocks have no bytes"};
    for (std::size_t done = 0; done < bytes; done += block_bytes) {
      decode(reader.bytes(reader.u32()), out.subspan(done, std::min(block_bytes, bytes - done)));
    }
    return out.first(bytes);
  }

 private:
  void decode(std::span<const std::byte> stored, std::span<std::byte> block) {
    if (stored.size() == block.size()) {
      std::memcpy(block.data(), stored.data(), block.size());
    } else if (lz4_->decode(stored, block) != block.size()) {
      throw DamagedBytes{"one of its LZ4 blocks is too short"};
    }
  }

  std::unique_ptr<BlockDecoder> lz4_;
};

#ifdef WARPFOLD_LZ4
int as_int(std::size_t bytes) {
  if (bytes > std::numeric_limits<int>::max()) throw DamagedBytes{"it has an LZ4 block of 2 GiB"};
  return static_cast<int>(bytes);
}

class Lz4Decoder : public BlockDecoder {
 public:
  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                         reinterpret_cast<char*>(out.data()), as_int(stored.size()),
                                         as_int(out.size()));
    if (made < 0) throw DamagedBytes{"its LZ4 stream is damaged"};
    return static_cast<std::size_t>(made);
  }
};
#endif

#ifdef WARPFOLD_ZSTD
class ZstdDecoder : public BlockDecoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    const std::size_t made =
        ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall)
      throw TooLong{"its zstd stream is longer than the chunk"};
    if (ZSTD_isError(made) != 0) throw DamagedBytes{"its zstd stream is damaged"};
    return made;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, FreedBy<ZSTD_freeDCtx>> context_;
};

class ZstdCompressor : public Compressor {
 public:
  explicit ZstdCompressor(int level) : level_(level), context_(ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
  }

  std::size_t compress(std::span<const std::byte> bytes, std::span<std::byte> out) override {
    const std::size_t made = ZSTD_compressCCtx(context_.get(), out.data(), out.size(), bytes.data(),
                                               bytes.size(), level_);
    return ZSTD_isError(made) != 0 ? 0 : made;
  }

 private:
  int level_;
  std::unique_ptr<ZSTD_CCtx, FreedBy<ZSTD_freeCCtx>> context_;
};
#endif

#ifdef WARPFOLD_BLOSC
class BloscDecoder : public BlockDecoder {
 public:
  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    if (stored.size() < BLOSC_MIN_HEADER_LENGTH) throw DamagedBytes{damaged};
    std::size_t bytes = 0;
    std::size_t stored_bytes = 0;
    std::size_t block_bytes = 0;
    blosc_cbuffer_sizes(stored.data(), &bytes, &stored_bytes, &block_bytes);
    if (stored_bytes > stored.size() ||
        blosc_cbuffer_validate(stored.data(), stored_bytes, &bytes) != 0)
      throw DamagedBytes{damaged};
    if (bytes > out.size()) throw TooLong{"its blosc stream is longer than the chunk"};
    constexpr int threads = 1;
    const int made = blosc_decompress_ctx(stored.data(), out.data(), bytes, threads);
    if (made < 0 || static_cast<std::size_t>(made) != bytes) throw DamagedBytes{damaged};
    return bytes;
  }

 private:
  static constexpr const char* damaged = "its blosc stream is damaged";
};
#endif

class LzfDecoder : public BlockDecoder {
 public:
  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    std::size_t made = 0;
    while (!stored.empty()) {
      const auto control = std::to_integer<unsigned>(take(stored, 1)[0]);
      made += control < first_reference ? literals(take(stored, control + 1), out.subspan(made))
                                        : reference(control, stored, out, made);
    }
    return made;
  }

 private:
  static constexpr unsigned first_reference = 32;
  static constexpr unsigned longest_in_control = 7;

  static std::span<const std::byte> take(std::span<const std::byte>& stored, std::size_t count) {
    if (count > stored.size()) throw DamagedBytes{"its LZF stream is damaged"};
    const auto taken = stored.first(count);
    stored = stored.subspan(count);
    return taken;
  }

  static std::size_t literals(std::span<const std::byte> bytes, std::span<std::byte> out) {
    if (bytes.size() > out.size()) throw TooLong{"its LZF stream is longer than the chunk"};
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return bytes.size();
  }

  /// The bytes may be among those that it makes.
  static std::size_t reference(unsigned control, std::span<const std::byte>& stored,
                               std::span<std::byte> out, std::size_t made) {
    std::size_t count = control >> 5;
    if (count == longest_in_control) count += std::to_integer<std::size_t>(take(stored, 1)[0]);
    count += 2;
    const std::size_t distance =
        ((control & 31U) << 8 | std::to_integer<unsigned>(take(stored, 1)[0])) + 1;
    if (distance > made) throw DamagedBytes{"its LZF stream is damaged"};
    if (count > out.size() - made) throw TooLong{"its LZF stream is longer than the chunk"};
    std::byte* const target = out.data() + made;
    const std::byte* const source = target - distance;
    if (distance >= count)
      std::memcpy(target, source, count);
    else
      for (std::size_t i = 0; i < count; ++i) target[i] = source[i];
    return count;
  }
};

}  // namespace

std::unique_ptr<FilterStep> make_stream_step(std::unique_ptr<BlockDecoder> decoder) {
  return decoder ? std::make_unique<StreamStep>(std::move(decoder)) : nullptr;
}

std::unique_ptr<FilterStep> make_lz4_step(std::unique_ptr<BlockDecoder> lz4) {
  return lz4 ? std::make_unique<Lz4Step>(std::move(lz4)) : nullptr;
}

std::unique_ptr<Compressor> make_zstd_compressor([[maybe_unused]] int level) {
#ifdef WARPFOLD_ZSTD
  return std::make_unique<ZstdCompressor>(level);
#else
  return nullptr;
#endif
}

std::unique_ptr<BlockDecoder> make_block_decoder(int filter) {
#ifdef WARPFOLD_LZ4
  if (filter == filter_id::lz4) return std::make_unique<Lz4Decoder>();
#endif
#ifdef WARPFOLD_ZSTD
  if (filter == filter_id::zstd) return std::make_unique<ZstdDecoder>();
#endif
#ifdef WARPFOLD_BLOSC
  if (filter == filter_id::blosc) return std::make_unique<BloscDecoder>();
#endif
  if (filter == filter_id::blosc2) return make_blosc2_decoder();
  if (filter == filter_id::lzf) return std::make_unique<LzfDecoder>();
  return nullptr;
}

}  // namespace warpfold::io
