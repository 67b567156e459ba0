#include "io/filters/block_decoder.hpp"

#ifdef WARPFOLD_BLOSC2
#include <b2nd.h>
#include <blosc2.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#endif

namespace warpfold::io {

#ifdef WARPFOLD_BLOSC2
namespace {

constexpr const char* damaged = "its blosc2 frame is damaged";

using Frame = std::unique_ptr<blosc2_schunk, FreedBy<blosc2_schunk_free>>;
using Array = std::unique_ptr<b2nd_array_t, FreedBy<b2nd_free>>;

/// The compressed bytes of a frame's only chunk.
class OnlyChunk {
 public:
  explicit OnlyChunk(blosc2_schunk* frame) {
    if (frame->nchunks != 1) throw DamagedBytes{"its blosc2 frame has other than one chunk"};
    stored_bytes_ = blosc2_schunk_get_lazychunk(frame, 0, &stored_, &is_owned_);
  }
  ~OnlyChunk() {
    if (is_owned_) std::free(stored_);
  }
  OnlyChunk(const OnlyChunk&) = delete;
  OnlyChunk& operator=(const OnlyChunk&) = delete;

  /// Returns its decompressed size in bytes. The library allocates several times as much, so more
  /// than `most` throws TooLong.
  std::size_t bytes(std::size_t most) const {
    std::int32_t bytes = 0;
    std::int32_t block_bytes = 0;
    if (stored_bytes_ < BLOSC_MIN_HEADER_LENGTH ||
        blosc2_cbuffer_sizes(stored_, &bytes, nullptr, &block_bytes) < 0 || bytes < 0)
      throw DamagedBytes{damaged};
    const unsigned codec = stored_[BLOSC2_CHUNK_FLAGS] >> 5;
    if (codec == BLOSC_UDCODEC_FORMAT) throw DamagedBytes{"its blosc2 codec is a plugin"};
    if (block_bytes > bytes) throw DamagedBytes{damaged};
    if (static_cast<std::size_t>(bytes) > most)
      throw TooLong{"its blosc2 frame is longer than the chunk"};
    return static_cast<std::size_t>(bytes);
  }

  std::size_t decompress(blosc2_context* context, std::span<std::byte> out) const {
    const std::size_t expected = bytes(out.size());
    const int made = blosc2_decompress_ctx(context, stored_, stored_bytes_, out.data(),
                                           static_cast<std::int32_t>(expected));
    if (made < 0 || static_cast<std::size_t>(made) != expected) throw DamagedBytes{damaged};
    return expected;
  }

 private:
  std::uint8_t* stored_ = nullptr;
  std::int32_t stored_bytes_ = 0;
  bool is_owned_ = false;
};

bool is_array(blosc2_schunk* frame) {
  return blosc2_meta_exists(frame, "b2nd") >= 0 || blosc2_meta_exists(frame, "caterva") >= 0;
}

/// Counts the bytes of an array's elements, without what fills its last blocks.
std::size_t bytes_of(const b2nd_array_t& array, std::size_t most) {
  std::uint64_t bytes = static_cast<std::uint64_t>(array.sc->typesize);
  for (int d = 0; d < array.ndim; ++d) {
    const auto extent = static_cast<std::uint64_t>(array.shape[d]);
    if (array.shape[d] <= 0 || extent > most / bytes)
      throw TooLong{"its blosc2 array is longer than the chunk"};
    bytes *= extent;
  }
  return bytes;
}

class Blosc2Decoder : public BlockDecoder {
 public:
  Blosc2Decoder() { [[maybe_unused]] static const bool is_ready = (blosc2_init(), true); }

  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    // The library only reads what it does not copy.
    auto* const bytes = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(stored.data()));
    Frame frame(blosc2_schunk_from_buffer(bytes, static_cast<std::int64_t>(stored.size()), false));
    if (!frame || frame->typesize <= 0) throw DamagedBytes{damaged};
    const OnlyChunk chunk(frame.get());
    if (!is_array(frame.get())) return chunk.decompress(frame->dctx, out);
    b2nd_array_t* made = nullptr;
    if (b2nd_from_schunk(frame.get(), &made) < 0) throw DamagedBytes{damaged};
    frame.release();
    return decode(Array(made), chunk, out);
  }

 private:
  static std::size_t decode(const Array& array, const OnlyChunk& chunk, std::span<std::byte> out) {
    const std::size_t bytes = bytes_of(*array, out.size());
    // Padding of the last blocks is less than a block along each dimension.
    chunk.bytes(out.size() << array->ndim);
    const std::int64_t start[B2ND_MAX_DIM] = {};
    if (b2nd_get_slice_cbuffer(array.get(), start, array->shape, out.data(), array->shape,
                               static_cast<std::int64_t>(out.size())) < 0)
      throw DamagedBytes{damaged};
    return bytes;
  }
};

}  // namespace

std::unique_ptr<BlockDecoder> make_blosc2_decoder() { return std::make_unique<Blosc2Decoder>(); }
#else
std::unique_ptr<BlockDecoder> make_blosc2_decoder() { return nullptr; }
#endif

}  // namespace warpfold::io
