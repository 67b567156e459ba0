#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/inflate/emulated_warp.hpp"
#include "cuda/inflate/inflate_streams.hpp"

/// Streams inflated as a GPU does it, lanes emulated, and as zlib does it.
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

  /// Tells whether the stream is good, also by its checksum.
  bool is_good(const Bytes& stream) const {
    if (outcome.status != InflateStatus::good) return false;
    const std::uint8_t* stored = stream.data() + outcome.taken - 4;
    const std::uint32_t checksum = std::uint32_t{stored[0]} << 24 | std::uint32_t{stored[1]} << 16 |
                                   std::uint32_t{stored[2]} << 8 | stored[3];
    return checksum == adler32(adler32(0, nullptr, 0), out.data(), static_cast<uInt>(out.size()));
  }
};

/// Inflates streams in one warp, of which so many groups take part.
inline std::vector<Inflated> inflated(const std::vector<Stored>& all,
                                      std::uint32_t active = groups) {
  constexpr std::size_t margin = 64;
  constexpr std::uint8_t untouched = 0xa5;
  std::vector<std::vector<std::uint32_t>> words;
  std::vector<Inflated> results;
  std::vector<InflateStream> streams;
  for (const Stored& each : all) {
    words.emplace_back((each.stream.size() + 3) / 4, 0xddddddddU);
    std::copy(each.stream.begin(), each.stream.end(),
              reinterpret_cast<std::uint8_t*>(words.back().data()));
    results.push_back({{}, Bytes(each.out_bytes + margin, untouched)});
    streams.push_back({words.back().data(), results.back().out.data(),
                       static_cast<std::uint32_t>(each.stream.size()),
                       static_cast<std::uint32_t>(each.out_bytes)});
  }
  std::vector<InflateOutcome> outcomes(all.size());
  std::uint32_t next = 0;
  std::array<std::array<std::uint16_t, literal_entries>, groups> literals{};
  std::array<CodeTables, groups> tables{};
  for (std::size_t i = 0; i < groups; ++i) tables[i].literals = literals[i].data();
  const InflateWork work{streams.data(), outcomes.data(), static_cast<std::uint32_t>(all.size()),
                         &next};
  testing::EmulatedWarp::run(
      [&] { inflate_streams<testing::EmulatedWarp>(tables.data(), work, active); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    Inflated& result = results[i];
    result.outcome = outcomes[i];
    result.is_overrun = std::any_of(result.out.end() - margin, result.out.end(),
                                    [](std::uint8_t byte) { return byte != untouched; });
    result.out.resize(all[i].out_bytes);
  }
  return results;
}

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
