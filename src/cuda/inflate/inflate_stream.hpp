#pragma once

#include <cstdint>

/// DEFLATE (RFC 1951) in zlib's wrapping (RFC 1950), decoded by warps: each of the groups that a
/// warp's lanes form decodes a stream, all groups in step. What is rare, the headers of blocks and
/// the next stream, is done for one group at a time by all lanes.
///
/// The code is compiled for GPUs and for the host, by a policy `Warp` whose static members are what
/// the lanes of a warp do together; all 32 are to call them at once:
///   lane()                   the caller's number, 0 to 31
///   shuffle(value, source)   the value that lane `source` passes: a word or a pointer
///   ballot(says), any(says)  a bit for each lane that says so; whether one does
///   synchronize()            makes what lanes wrote visible to all
///   load(pointer)            a word of a stream, which does not change
///   take(counter, count)     adds to a counter in memory and returns what it was
namespace warpfold::cuda::inflate {

enum class InflateStatus : std::uint32_t {
  good,
  bad_header,      ///< no zlib stream, or one with a preset dictionary
  bad_block_type,  ///< 3
  bad_lengths,     ///< lengths of codes: too many or too few, or for more symbols than there are
  bad_code,        ///< that no symbol has
  bad_symbol,      ///< that stands for nothing
  bad_distance,    ///< beyond the first byte
  bad_stored,      ///< the length of a stored block and its complement differ
  too_long,        ///< for the bytes that it should make
  too_short,
  truncated,
  bad_checksum
};

/// A stream is read in words, the first and the last of which may hold bytes of others.
struct InflateStream {
  const std::uint32_t* words = nullptr;
  std::uint8_t* out = nullptr;
  std::uint32_t first = 0;  ///< byte of the words
  std::uint32_t bytes = 0;
  std::uint32_t out_bytes = 0;  ///< that it is to make
};

struct InflateOutcome {
  InflateStatus status = InflateStatus::good;
  std::uint32_t taken = 0;  ///< bytes of a good stream with its checksum
};

}  // namespace warpfold::cuda::inflate
