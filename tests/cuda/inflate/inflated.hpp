#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/inflate/inflate_stream.hpp"
#include "cuda/inflate/stream_group.hpp"

/// Streams inflated as a GPU does it, and as zlib does it.
namespace warpfold::cuda::inflate {

using Bytes = std::vector<std::uint8_t>;

struct Stored {
  Bytes stream;
  std::size_t out_bytes = 0;
};

struct Inflated {
  InflateOutcome outcome;
  Bytes out;
  bool is_overrun = false;  ///< bytes behind the output were written

  /// Returns whether the stream is good, also by its checksum.
  bool is_good(const Bytes& stream) const {
    if (outcome.status != InflateStatus::good) return false;
    const std::uint8_t* stored = stream.data() + outcome.taken - 4;
    const std::uint32_t checksum = std::uint32_t{stored[0]} << 24 | std::uint32_t{stored[1]} << 16 |
                                   std::uint32_t{stored[2]} << 8 | stored[3];
    return checksum == adler32(adler32(0, nullptr, 0), out.data(), static_cast<uInt>(out.size()));
  }
};

/// Inflates streams in one warp that is emulated, or on the GPU; so many groups of a warp take
/// part.
std::vector<Inflated> inflated(const std::vector<Stored>& all, std::uint32_t active = groups);

/// Says why nothing can be inflated here; empty where it can.
std::string why_not_inflated();

struct ZlibVerdict {
  bool is_good = false;
  std::size_t taken = 0;
  Bytes out;
};

inline ZlibVerdict by_zlib(const Stored& stored) {
  z_stream stream{};
  inflateInit(&stream);
  ZlibVerdict verdict;
  verdict.out.resize(stored.out_bytes + 1);
  stream.next_in = const_cast<std::uint8_t*>(stored.stream.data());
  stream.avail_in = static_cast<uInt>(stored.stream.size());
  stream.next_out = verdict.out.data();
  stream.avail_out = static_cast<uInt>(verdict.out.size());
  verdict.is_good =
      ::inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == stored.out_bytes;
  verdict.taken = stream.total_in;
  verdict.out.resize(stored.out_bytes);
  inflateEnd(&stream);
  return verdict;
}

}  // namespace warpfold::cuda::inflate
