#pragma once

#include <cstdint>

#include "cuda/inflate/bit_reader.hpp"
#include "cuda/inflate/code_tables.hpp"
#include "cuda/inflate/inflate_stream.hpp"

namespace warpfold::cuda::inflate {

/// So many lanes decode a stream together: each the same symbols, sharing the bytes to be copied.
inline constexpr std::uint32_t group_lanes = 8;
inline constexpr std::uint32_t groups = lanes / group_lanes;

enum class GroupState : std::uint32_t { fetching, at_header, ended, in_block, idle };

/// A group's state of its stream, the same in all of its lanes but for `stored_from`.
template <class Warp>
struct StreamGroup {
  BitReader<Warp> in;
  std::uint8_t* out = nullptr;
  std::uint32_t number = 0;
  std::uint32_t first = 0;  ///< byte of its words
  std::uint32_t end_byte = 0;
  std::uint32_t out_bytes = 0;
  std::uint32_t made = 0;  ///< bytes of the output

  /// The last eight literals, the newest in the uppermost byte. They are stored a word at a time:
  /// none from made & ~3 on is yet.
  std::uint32_t newest = 0;
  std::uint32_t older = 0;
  std::uint32_t made_then = 0;  ///< when a word was last stored

  /// First byte of the output that may be among them; all ones in lanes that store no literals.
  std::uint32_t stored_from = 0;

  /// A byte of the last match that the lane has still to store: by then it will have come.
  std::uint8_t* late_to = nullptr;
  std::uint8_t late = 0;

  GroupState state = GroupState::idle;
  InflateStatus status = InflateStatus::good;
  bool is_last_block = false;

  WARPFOLD_WARP_CODE bool is(GroupState wanted) const { return state == wanted; }
  WARPFOLD_WARP_CODE bool needs_next_block() const {
    return state == GroupState::fetching || state == GroupState::at_header ||
           state == GroupState::ended;
  }

  WARPFOLD_WARP_CODE void end(InflateStatus how) {
    status = how;
    state = GroupState::ended;
  }

  /// Adds a literal, given as its entry.
  WARPFOLD_WARP_CODE void add_literal(std::uint32_t entry) {
    in.drop(entry);
    older = shifted_right(older, newest, 8);
    newest = pushed(newest, entry);
    ++made;
  }

  /// Goes on behind bytes that were stored otherwise.
  WARPFOLD_WARP_CODE void skip(std::uint32_t count, std::uint32_t lane) {
    made += count;
    stored_from = lane < 4 ? made : ~0U;
  }

  /// Stores the literals from made & ~3 on.
  WARPFOLD_WARP_CODE void store_rest(std::uint32_t lane) const {
    const std::uint32_t rest = made & 3;
    const std::uint32_t at = made - rest + lane;
    if (lane < rest && at >= stored_from)
      out[at] = static_cast<std::uint8_t>(newest >> (8 * (4 - rest + lane)));
  }

  /// Stores the word that has been filled since the last call, if any: by four literals at most.
  WARPFOLD_WARP_CODE void store_word(std::uint32_t lane) {
    const std::uint32_t word = shifted_left(older, newest, made << 3);
    const std::uint32_t at = (made & ~3U) - 4 + lane;
    if (((made ^ made_then) & ~3U) != 0 && at >= stored_from && at < out_bytes)
      out[at] = static_cast<std::uint8_t>(word >> (8 * (lane & 3)));
    made_then = made;
  }

  WARPFOLD_WARP_CODE void store_late() {
    if (late_to != nullptr) *late_to = late;
    late_to = nullptr;
  }
};

/// Copies bytes of a stream's words. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void copy_stored(const std::uint32_t* words, std::uint32_t from,
                                    std::uint8_t* to, std::uint32_t count) {
  const std::uint32_t lane = Warp::lane();
  for (std::uint32_t i = lane; i < count; i += lanes)
    to[i] = static_cast<std::uint8_t>(Warp::load(words + (from + i) / 4) >> (from + i) % 4 * 8);
}

/// Tells a group's outcome, and lets it fetch another stream.
template <class Warp>
WARPFOLD_WARP_CODE void finish_stream(StreamGroup<Warp>& group, InflateOutcome* outcomes,
                                      std::uint32_t lane) {
  constexpr std::uint32_t checksum_bytes = 4;
  std::uint32_t taken = group.first;
  if (group.status == InflateStatus::good) {
    taken = (group.in.used() + 7) / 8 + checksum_bytes;
    if (group.made <= group.out_bytes) group.store_rest(lane);
    if (group.made > group.out_bytes)
      group.status = InflateStatus::too_long;
    else if (taken > group.end_byte)
      group.status = InflateStatus::truncated;
    else if (group.made != group.out_bytes)
      group.status = InflateStatus::too_short;
  }
  if (lane == 0) outcomes[group.number] = {group.status, taken - group.first};
  group.state = GroupState::fetching;
}

/// Reads a zlib header. Returns false where it is none, or asks for a dictionary.
template <class Warp>
WARPFOLD_WARP_CODE bool read_zlib_header(BitReader<Warp>& in, std::uint32_t bytes) {
  constexpr std::uint32_t least_bytes = 6;
  const std::uint32_t head = in.take(16);
  const std::uint32_t method = head & 15;
  const std::uint32_t window = head >> 4 & 15;
  const bool has_dictionary = (head >> 13 & 1) != 0;
  return bytes >= least_bytes && method == 8 && window <= 7 && !has_dictionary &&
         ((head & 255) << 8 | head >> 8) % 31 == 0;
}

/// Begins a stream.
template <class Warp>
WARPFOLD_WARP_CODE void begin_stream(StreamGroup<Warp>& group, const InflateStream& stream,
                                     std::uint32_t lane) {
  group.out = stream.out;
  group.first = stream.first;
  group.end_byte = stream.first + stream.bytes;
  group.out_bytes = stream.out_bytes;
  group.made = group.made_then = group.newest = group.older = 0;
  group.stored_from = lane < 4 ? 0 : ~0U;
  group.status = InflateStatus::good;
  group.in.start(stream.words, (group.end_byte + 3) / 4, stream.first);
  group.state = GroupState::at_header;
  if (!read_zlib_header(group.in, stream.bytes)) group.end(InflateStatus::bad_header);
}

/// Work of a warp: streams that several warps may take from, in their order.
struct InflateWork {
  const InflateStream* streams;
  InflateOutcome* outcomes;
  std::uint32_t count;
  std::uint32_t* next;  ///< in memory that all warps share; 0 at first
};

/// Gives groups that are fetching the next streams, as long as there are any. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void fetch_streams(StreamGroup<Warp>& group, const InflateWork& work) {
  const std::uint32_t lane = Warp::lane() % group_lanes;
  const std::uint32_t fetching = Warp::ballot(group.is(GroupState::fetching) && lane == 0);
  if (fetching == 0) return;
  std::uint32_t first = 0;
  if (Warp::lane() == 0) first = Warp::take(work.next, count_ones(fetching));
  first = Warp::shuffle(first, 0);
  if (!group.is(GroupState::fetching)) return;
  const std::uint32_t leader = Warp::lane() - lane;
  group.number = first + count_ones(fetching & ((1U << leader) - 1));
  group.state = GroupState::idle;
  group.out_bytes = 0;
  if (group.number < work.count) begin_stream(group, work.streams[group.number], lane);
}

/// Copies a stored block of the group whose first lane is `leader`. By all lanes; `in` is its
/// reader, in all of them.
template <class Warp>
WARPFOLD_WARP_CODE InflateStatus read_stored_block(StreamGroup<Warp>& group, BitReader<Warp>& in,
                                                   std::uint32_t leader) {
  const std::uint32_t end = Warp::shuffle(group.end_byte, leader);
  const std::uint32_t made = Warp::shuffle(group.made, leader);
  const std::uint32_t out_bytes = Warp::shuffle(group.out_bytes, leader);
  std::uint8_t* const out = Warp::shuffle(group.out, leader);
  const std::uint32_t at = (in.used() + 7) / 8;
  in.take((8 - in.used() % 8) % 8);
  in.refill();
  const std::uint32_t length = in.take(16);
  in.refill();
  const std::uint32_t complement = in.take(16);
  constexpr std::uint32_t head_bytes = 4;
  if (at + head_bytes > end) return InflateStatus::truncated;
  if (length != (complement ^ 0xffffU)) return InflateStatus::bad_stored;
  if (length > end - at - head_bytes) return InflateStatus::truncated;
  if (made > out_bytes || length > out_bytes - made) return InflateStatus::too_long;
  const std::uint32_t lane = Warp::lane() - leader;
  const bool is_own = lane < group_lanes;
  if (is_own) group.store_rest(lane);
  copy_stored<Warp>(in.words(), at + head_bytes, out + made, length);
  in.start(in.words(), in.count(), at + head_bytes + length);
  if (is_own) group.skip(length, lane);
  return InflateStatus::good;
}

/// Reads the header of the next block of the group whose first lane is `leader`, and the block
/// where it is stored. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void read_block_header(StreamGroup<Warp>& group, CodeTables* tables,
                                          std::uint32_t leader) {
  BitReader<Warp> in = group.in.of(leader);
  in.refill();
  const bool is_last = in.take(1) != 0;
  const std::uint32_t type = in.take(2);
  GroupState state = GroupState::in_block;
  InflateStatus status = InflateStatus::good;
  if (in.used() > Warp::shuffle(group.end_byte, leader) * 8) {
    status = InflateStatus::truncated;
  } else if (type == 3) {
    status = InflateStatus::bad_block_type;
  } else if (type == 0) {
    status = read_stored_block(group, in, leader);
    state = is_last ? GroupState::ended : GroupState::at_header;
  } else {
    status = read_tables<Warp>(tables[leader / group_lanes], in, type == 1);
  }
  if (Warp::lane() - leader >= group_lanes) return;
  group.in = in;
  group.is_last_block = is_last;
  group.state = state;
  if (status != InflateStatus::good) group.end(status);
}

/// Brings all groups into blocks with codes, or to rest where streams have ended. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void next_blocks(StreamGroup<Warp>& group, CodeTables* tables,
                                    const InflateWork& work) {
  const std::uint32_t lane = Warp::lane() % group_lanes;
  do {
    if (group.is(GroupState::ended)) finish_stream(group, work.outcomes, lane);
    fetch_streams(group, work);
    std::uint32_t headers = Warp::ballot(group.is(GroupState::at_header) && lane == 0);
    for (; headers != 0; headers &= headers - 1)
      read_block_header(group, tables, lowest_one(headers));
  } while (Warp::any(group.needs_next_block()));
}

}  // namespace warpfold::cuda::inflate
