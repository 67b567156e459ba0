#pragma once

#include <cstdint>

#include "cuda/inflate/stream_group.hpp"

namespace warpfold::cuda::inflate {

/// The least value that a symbol of lengths (less 256) or of distances stands for, and from bit 16
/// on the number of bits that are added to it (RFC 1951, 3.2.5).
WARPFOLD_WARP_CODE inline std::uint32_t length_of_symbol(std::uint32_t symbol) {
  if (symbol == 0 || symbol > 29) return 3;
  const std::uint32_t s = symbol - 1;
  if (s < 8) return s + 3;
  if (s == 28) return 258;
  const std::uint32_t added = (s - 4) >> 2;
  return (((4 + (s & 3)) << added) + 3) | added << 16;
}

WARPFOLD_WARP_CODE inline std::uint32_t distance_of_symbol(std::uint32_t symbol) {
  if (symbol < 4) return symbol + 1;
  if (symbol > 29) return 1;
  const std::uint32_t added = (symbol >> 1) - 1;
  return (((2 + (symbol & 1)) << added) + 1) | added << 16;
}

/// Earlier bytes of the output to be repeated; none where `length` is 0.
struct Match {
  std::uint32_t length = 0;
  std::uint32_t distance = 1;
};

/// Reads what is no literal of the tables, whose entry is `entry`: a literal with a long code, a
/// match, or the block's end.
template <class Warp>
WARPFOLD_WARP_CODE Match read_match(StreamGroup<Warp>& group, const CodeTables& tables,
                                    std::uint32_t entry) {
  if (group.made > group.out_bytes) {
    group.end(InflateStatus::too_long);
    return {};
  }
  group.in.refill();
  if ((entry & long_or_none) != 0) {
    entry = long_entry(group.in.peek(), literal_bits, tables.sorted_literals, tables.literal_code);
    if (!is_no_literal(entry)) {
      group.add_literal(entry);
      return {};
    }
  }
  if ((entry & long_or_none) != 0) {
    group.end(InflateStatus::bad_code);
    return {};
  }
  group.in.drop(entry);
  const std::uint32_t symbol = entry >> 8;
  if (symbol == 0) {
    group.state = group.is_last_block ? GroupState::ended : GroupState::at_header;
    return {};
  }
  Match match;
  const std::uint32_t lengths = length_of_symbol(symbol);
  match.length = (lengths & 0xffffU) + group.in.take(lengths >> 16);
  group.in.refill();
  std::uint32_t far = tables.distances[group.in.peek() & (distance_entries - 1)];
  if ((far & long_or_none) != 0)
    far = long_entry(group.in.peek(), distance_bits, tables.sorted_distances, tables.distance_code);
  if ((far & long_or_none) != 0) {
    group.end(InflateStatus::bad_code);
    return {};
  }
  group.in.drop(far);
  const std::uint32_t distances = distance_of_symbol(far >> 8);
  match.distance = (distances & 0xffffU) + group.in.take(distances >> 16);
  if (symbol > 29 || far >> 8 >= max_distances)
    group.end(InflateStatus::bad_symbol);
  else if (match.distance > group.made)
    group.end(InflateStatus::bad_distance);
  else if (match.length > group.out_bytes - group.made)
    group.end(InflateStatus::too_long);
  else
    return match;
  return {};
}

/// Repeats bytes from a distance that is less than both a group's lanes and the match's length.
template <class Warp>
WARPFOLD_WARP_CODE void repeat_period(const StreamGroup<Warp>& group, Match match,
                                      std::uint32_t lane) {
  const std::uint32_t period = match.distance;
  const std::uint32_t step = group_lanes - group_lanes % period;
  if (lane >= step) return;
  std::uint8_t* const target = group.out + group.made;
  const std::uint8_t byte = *(target - period + lane % period);
  for (std::uint32_t i = lane; i < match.length; i += step) target[i] = byte;
}

/// Repeats bytes from a distance of at least a group's lanes or the match's length: the first
/// bytes, which are all there mostly is, are only read.
template <class Warp>
WARPFOLD_WARP_CODE void repeat_bytes(StreamGroup<Warp>& group, Match match, std::uint32_t lane) {
  constexpr std::uint32_t at_once = 4;
  std::uint8_t* const target = group.out + group.made;
  const std::uint8_t* const source = target - match.distance;
  if (lane < match.length) {
    group.late = source[lane];
    group.late_to = target + lane;
  }
  std::uint32_t from = lane;
  for (std::uint32_t i = lane + group_lanes; i < match.length; i += at_once * group_lanes) {
    std::uint8_t bytes[at_once];
    for (std::uint32_t k = 0; k < at_once; ++k) {
      from += group_lanes;
      if (from >= match.distance) from -= match.distance;
      if (i + k * group_lanes < match.length) bytes[k] = source[from];
    }
    for (std::uint32_t k = 0; k < at_once; ++k)
      if (i + k * group_lanes < match.length) target[i + k * group_lanes] = bytes[k];
  }
}

/// Repeats bytes, where the group has a match. Sources all lie before the target, so that lanes
/// copy whatever order they come in. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void copy_matches(StreamGroup<Warp>& group, Match match, std::uint32_t lane) {
  if (match.length != 0) group.store_rest(lane);
  Warp::synchronize();
  if (match.length == 0) return;
  if (match.distance < group_lanes && match.distance < match.length)
    repeat_period(group, match, lane);
  else
    repeat_bytes(group, match, lane);
  group.skip(match.length, lane);
}

/// Decodes literals, as many as one refill provides for. Returns the entry of what comes next where
/// that is no literal; it is not dropped.
template <class Warp>
WARPFOLD_WARP_CODE std::uint32_t decode_literals(StreamGroup<Warp>& group, const CodeTables& codes,
                                                 std::uint32_t lane) {
  constexpr std::uint32_t at_once = 3;
  static_assert(at_once * literal_bits <= 31);
  const auto next_entry = [&] { return codes.literals[group.in.peek() & (literal_entries - 1)]; };
  group.in.refill();
  std::uint32_t entry = next_entry();
  group.store_word(lane);  // while the entry comes
  if (!is_no_literal(entry)) group.add_literal(entry);
  for (std::uint32_t i = 1; i < at_once; ++i) {
    entry = next_entry();
    if (!is_no_literal(entry)) group.add_literal(entry);
  }
  return entry;
}

/// Decodes streams until there are no more. `tables` are the warp's, one for each group; groups
/// beyond `active` take no streams: few streams end sooner in many warps. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void inflate_streams(CodeTables* tables, const InflateWork& work,
                                        std::uint32_t active) {
  const std::uint32_t lane = Warp::lane() % group_lanes;
  const std::uint32_t number = Warp::lane() / group_lanes;
  StreamGroup<Warp> group;
  if (number < active) group.state = GroupState::fetching;
  next_blocks(group, tables, work);
  if (!Warp::any(group.is(GroupState::in_block))) return;
  while (true) {
    // A group that is idle makes nothing of whatever it decodes: its output has no bytes.
    const std::uint32_t entry = decode_literals(group, tables[number], lane);
    const bool stops =
        group.is(GroupState::in_block) && (is_no_literal(entry) || group.made > group.out_bytes);
    if (!Warp::any(stops)) continue;
    group.store_word(lane);
    Match match;
    if (stops) match = read_match(group, tables[number], entry);
    group.store_late();
    copy_matches(group, match, lane);
    if (!Warp::any(group.needs_next_block())) continue;
    group.store_late();
    next_blocks(group, tables, work);
    if (!Warp::any(group.is(GroupState::in_block))) return;
  }
}

}  // namespace warpfold::cuda::inflate
