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
                                    std::uint32_t entry, std::uint32_t lane) {
  group.in.refill();
  if ((entry & long_or_none) != 0) {
    entry = long_entry(group.in.peek(), literal_bits, tables.sorted_literals, tables.literal_code);
    if (!is_no_literal(entry)) {
      const std::uint32_t before = group.made;
      group.add_literal(entry);
      group.store_word(before, lane);
      if (group.made > group.out_bytes) group.end(InflateStatus::too_long);
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

/// Repeats bytes, where the group has a match. Sources all lie before the target, so that lanes
/// copy whatever order they come in. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void copy_matches(StreamGroup<Warp>& group, Match match, std::uint32_t lane) {
  if (match.length != 0) group.store_rest(lane);
  Warp::synchronize();
  if (match.length == 0) return;
  std::uint8_t* const target = group.out + group.made;
  const std::uint8_t* const source = target - match.distance;
  const std::uint32_t step = group_lanes % match.distance;
  std::uint32_t at = lane % match.distance;
  for (std::uint32_t i = lane; i < match.length; i += group_lanes) {
    target[i] = source[at];
    at += step;
    if (at >= match.distance) at -= match.distance;
  }
  group.skip(match.length, lane);
}

/// Decodes the next symbols of a group's block: literals up to the first that is none, or as many
/// as one refill provides for, and that one.
template <class Warp>
WARPFOLD_WARP_CODE Match decode_symbols(StreamGroup<Warp>& group, const CodeTables& codes,
                                        std::uint32_t lane) {
  constexpr std::uint32_t at_once = 3;
  static_assert(at_once * literal_bits <= 31);
  const std::uint32_t before = group.made;
  std::uint32_t entry = 0;
  group.in.refill();
  for (std::uint32_t i = 0; i < at_once && !is_no_literal(entry); ++i) {
    entry = codes.literals[group.in.peek() & (literal_entries - 1)];
    if (!is_no_literal(entry)) group.add_literal(entry);
  }
  group.store_word(before, lane);
  if (group.made > group.out_bytes)
    group.end(InflateStatus::too_long);
  else if (is_no_literal(entry))
    return read_match(group, codes, entry, lane);
  return {};
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
  while (Warp::any(group.is(GroupState::in_block))) {
    Match match;
    if (group.is(GroupState::in_block)) match = decode_symbols(group, tables[number], lane);
    if (Warp::any(match.length != 0)) copy_matches(group, match, lane);
    if (Warp::any(group.needs_next_block())) next_blocks(group, tables, work);
  }
}

}  // namespace warpfold::cuda::inflate
