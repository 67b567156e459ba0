#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace warpfold::io {

/// Decompresses blocks of one format; one object serves one thread.
class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;

  /// Returns the bytes made, at the start of `out`. Throws DamagedBytes, also where `out` can't
  /// hold them.
  virtual std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) = 0;
};

/// LZ4 blocks and zstd frames by their libraries; none where this build has no such library.
std::unique_ptr<BlockDecoder> make_lz4_decoder();
std::unique_ptr<BlockDecoder> make_zstd_decoder();

/// LZF streams by liblzf; none likewise.
std::unique_ptr<BlockDecoder> make_lzf_decoder();

}  // namespace warpfold::io
