#pragma once

#include <cstdint>

#include "cuda/inflate/bit_reader.hpp"
#include "cuda/inflate/inflate_stream.hpp"

namespace warpfold::cuda::inflate {

inline constexpr std::uint32_t lanes = 32;

/// Codes of so many bits are found by one look into a table; longer ones by canonical decoding.
inline constexpr std::uint32_t literal_bits = 10;
inline constexpr std::uint32_t distance_bits = 8;
inline constexpr std::uint32_t literal_entries = 1U << literal_bits;
inline constexpr std::uint32_t distance_entries = 1U << distance_bits;

inline constexpr std::uint32_t max_code_bits = 15;
inline constexpr std::uint32_t max_literals = 286;
inline constexpr std::uint32_t max_distances = 30;

/// An entry has the length of a code in bits 0 to 4, and above bit 8 the literal, or the symbol
/// less 256, or the symbol of a distance. Bit 6: it is no literal. Bit 7: the code is longer, or
/// none.
inline constexpr std::uint32_t no_literal = 0x40;
inline constexpr std::uint32_t long_or_none = 0x80;

/// Returns whether an entry is that of no literal.
WARPFOLD_WARP_CODE inline bool is_no_literal(std::uint32_t entry) {
  return (entry & (no_literal | long_or_none)) != 0;
}

WARPFOLD_WARP_CODE inline std::uint32_t entry_of(std::uint32_t symbol, std::uint32_t length) {
  return (symbol & 255) << 8 | (symbol >> 8) << 6 | length;
}

/// The canonical order of one code's symbols: by length, then by number. Codes of `length` bits,
/// put at the upper end of 15, are below limit[length]; the symbol of one is sorted[base[length] +
/// it].
struct CanonicalCode {
  std::uint16_t limit[max_code_bits + 1];
  std::uint16_t base[max_code_bits + 1];
};

/// Tables that decode a block's symbols.
struct CodeTables {
  std::uint16_t literals[literal_entries];
  std::uint16_t distances[distance_entries];
  std::uint16_t sorted_literals[288];
  std::uint16_t sorted_distances[32];
  CanonicalCode literal_code;
  CanonicalCode distance_code;
};

/// Numbers the codes of a block from `count`, how many symbols have as many bits as the lane's
/// number says; `first` becomes the place of the first of them among all. Returns false where codes
/// are too many or too few; a single one of one bit will do. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE bool number_codes(std::uint32_t count, std::uint32_t& first,
                                     CanonicalCode& numbered) {
  std::uint32_t code = 0;
  std::uint32_t place = 0;
  std::int32_t left = 1;
  for (std::uint32_t length = 1; length <= max_code_bits; ++length) {
    const std::uint32_t these = Warp::shuffle(count, length);
    code <<= 1;
    left = 2 * left - static_cast<std::int32_t>(these);
    if (left < 0) return false;
    if (Warp::lane() == length) {
      numbered.limit[length] =
          static_cast<std::uint16_t>((code + these) << (max_code_bits - length));
      numbered.base[length] = static_cast<std::uint16_t>(place - code);
      first = place;
    }
    code += these;
    place += these;
  }
  const bool is_one_of_one_bit = Warp::shuffle(count, 1) == 1 && place == 1;
  return left == 0 || place == 0 || is_one_of_one_bit;
}

/// Fills a table of 2^bits entries with the codes of so many bits and fewer. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE void fill_table(std::uint16_t* table, std::uint32_t bits,
                                   const std::uint16_t* sorted, const CanonicalCode& codes) {
  const std::uint32_t entries = 1U << bits;
  for (std::uint32_t i = Warp::lane(); i < entries; i += lanes)
    table[i] = static_cast<std::uint16_t>(no_literal | long_or_none);
  Warp::synchronize();
  std::uint32_t begin = 0;
  std::uint32_t place = 0;
  for (std::uint32_t length = 1; length <= bits; ++length) {
    const std::uint32_t end = codes.limit[length];
    const std::uint32_t code = begin >> (max_code_bits - length);
    const std::uint32_t these = (end - begin) >> (max_code_bits - length);
    const std::uint32_t copies = entries >> length;
    // Lanes share the entries of few short codes, and take codes of their own where they are many.
    const bool shares = copies >= lanes;
    const std::uint32_t lane = Warp::lane();
    for (std::uint32_t j = shares ? 0 : lane; j < these; j += shares ? 1 : lanes) {
      const std::uint32_t entry = entry_of(sorted[place + j], length);
      const std::uint32_t first = reversed(code + j) >> (32 - length);
      for (std::uint32_t k = shares ? lane : 0; k < copies; k += shares ? lanes : 1)
        table[first + (k << length)] = static_cast<std::uint16_t>(entry);
    }
    place += these;
    begin = end;
  }
  Warp::synchronize();
}

/// Returns the entry of a code of more than `bits` bits, or one that says there is none.
WARPFOLD_WARP_CODE inline std::uint32_t long_entry(std::uint32_t next_bits, std::uint32_t bits,
                                                   const std::uint16_t* sorted,
                                                   const CanonicalCode& codes) {
  const std::uint32_t code = reversed(next_bits) >> (32 - max_code_bits);
  for (std::uint32_t length = bits + 1; length <= max_code_bits; ++length)
    if (code < codes.limit[length])
      return entry_of(sorted[(codes.base[length] + (code >> (max_code_bits - length))) & 0xffffU],
                      length);
  return no_literal | long_or_none;
}

/// Numbers of symbols with codes, and of those with codes of the lane's number of bits.
struct CodeCounts {
  std::uint32_t literals = 288;
  std::uint32_t distances = max_distances;
  std::uint32_t of_literals = 0;
  std::uint32_t of_distances = 0;
};

/// Gives the symbols of a fixed code their lengths. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE CodeCounts fixed_lengths(std::uint8_t* lengths) {
  const std::uint32_t lane = Warp::lane();
  for (std::uint32_t i = lane; i < 288 + max_distances; i += lanes)
    lengths[i] = static_cast<std::uint8_t>(i < 144   ? 8
                                           : i < 256 ? 9
                                           : i < 280 ? 7
                                           : i < 288 ? 8
                                                     : 5);
  CodeCounts counts;
  counts.of_literals = lane == 7 ? 24 : lane == 8 ? 152 : lane == 9 ? 112 : 0;
  counts.of_distances = lane == 5 ? max_distances : 0;
  Warp::synchronize();
  return counts;
}

/// Returns the symbol of the code of lengths whose length comes i-th.
WARPFOLD_WARP_CODE inline std::uint32_t length_symbol(std::uint32_t i) {
  constexpr std::uint64_t first = 16ULL | 17ULL << 5 | 18ULL << 10 | 0ULL << 15 | 8ULL << 20 |
                                  7ULL << 25 | 9ULL << 30 | 6ULL << 35 | 10ULL << 40 | 5ULL << 45 |
                                  11ULL << 50 | 4ULL << 55;
  constexpr std::uint64_t then =
      12ULL | 3ULL << 5 | 13ULL << 10 | 2ULL << 15 | 14ULL << 20 | 1ULL << 25 | 15ULL << 30;
  return static_cast<std::uint32_t>((i < 12 ? first >> (5 * i) : then >> (5 * (i - 12))) & 31);
}

/// Reads the code in which lengths are given, of `count` symbols, into a table of 128 entries: a
/// symbol from bit 8 on, the length of its code below. Returns false where it is not complete. By
/// all lanes.
template <class Warp>
WARPFOLD_WARP_CODE bool read_code_of_lengths(std::uint16_t* table, BitReader<Warp>& in,
                                             std::uint32_t count) {
  const std::uint32_t lane = Warp::lane();
  std::uint32_t own_length = 0;  ///< length of symbol `lane`
  for (std::uint32_t i = 0; i < count; ++i) {
    in.refill();
    const std::uint32_t length = in.take(3);
    if (length_symbol(i) == lane) own_length = length;
  }
  std::uint32_t code = 0;
  std::int32_t left = 1;
  for (std::uint32_t length = 1; length <= 7; ++length) {
    code <<= 1;
    const std::uint32_t these = Warp::ballot(own_length == length);
    left = 2 * left - static_cast<std::int32_t>(count_ones(these));
    if (left < 0) return false;
    if (own_length == length) {
      const std::uint32_t own = code + count_ones(these & ((1U << lane) - 1));
      for (std::uint32_t i = reversed(own) >> (32 - length); i < 128; i += 1U << length)
        table[i] = static_cast<std::uint16_t>(lane << 8 | length);
    }
    code += count_ones(these);
  }
  Warp::synchronize();
  return left == 0;
}

/// Reads the lengths of a block's own codes. `table` has room for 128 entries. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE InflateStatus read_lengths(std::uint8_t* lengths, std::uint16_t* table,
                                              BitReader<Warp>& in, CodeCounts& counts) {
  in.refill();
  counts.literals = in.take(5) + 257;
  counts.distances = in.take(5) + 1;
  const std::uint32_t code_lengths = in.take(4) + 4;
  if (counts.literals > max_literals || counts.distances > max_distances)
    return InflateStatus::bad_lengths;
  if (!read_code_of_lengths(table, in, code_lengths)) return InflateStatus::bad_lengths;
  const std::uint32_t lane = Warp::lane();
  const std::uint32_t all = counts.literals + counts.distances;
  std::uint32_t length = 0;
  for (std::uint32_t i = 0; i < all;) {
    in.refill();
    const std::uint32_t entry = table[in.peek() & 127];
    in.drop(entry);
    const std::uint32_t symbol = entry >> 8;
    std::uint32_t times = 1;
    if (symbol < 16) {
      length = symbol;
    } else if (symbol == 16) {
      if (i == 0) return InflateStatus::bad_lengths;
      times = 3 + in.take(2);
    } else {
      length = 0;
      times = symbol == 17 ? 3 + in.take(3) : 11 + in.take(7);
    }
    const std::uint32_t end = i + times;
    if (end > all) return InflateStatus::bad_lengths;
    for (std::uint32_t j = i + lane; j < end; j += lanes)
      lengths[j] = static_cast<std::uint8_t>(length);
    const std::uint32_t literals_end = end < counts.literals ? end : counts.literals;
    const std::uint32_t of_literals = i < literals_end ? literals_end - i : 0;
    if (length == lane) {
      counts.of_literals += of_literals;
      counts.of_distances += times - of_literals;
    }
    i = end;
  }
  Warp::synchronize();
  return lengths[256] == 0 ? InflateStatus::bad_lengths : InflateStatus::good;
}

/// Puts the symbols of the lane's number of bits, from `place` on, into the canonical order.
template <class Warp>
WARPFOLD_WARP_CODE void sort_symbols(const std::uint8_t* lengths, std::uint32_t symbols,
                                     std::uint32_t place, std::uint16_t* sorted) {
  const std::uint32_t lane = Warp::lane();
  if (lane == 0 || lane > max_code_bits) return;
  for (std::uint32_t i = 0; i < symbols; ++i)
    if (lengths[i] == lane) sorted[place++] = static_cast<std::uint16_t>(i);
}

/// Makes the tables of a block: of the fixed codes, or of those that it begins with. By all lanes.
template <class Warp>
WARPFOLD_WARP_CODE InflateStatus read_tables(CodeTables& tables, BitReader<Warp>& in, bool fixed) {
  // The lengths lie where the table is to be, until that is filled.
  auto* const lengths = reinterpret_cast<std::uint8_t*>(tables.literals);
  static_assert(2 * literal_entries >= 288 + 32 && distance_entries >= 128);
  Warp::synchronize();  // no lane reads the last block's any more
  CodeCounts counts;
  if (fixed) {
    counts = fixed_lengths<Warp>(lengths);
  } else if (const InflateStatus status = read_lengths(lengths, tables.distances, in, counts);
             status != InflateStatus::good) {
    return status;
  }
  const std::uint32_t lane = Warp::lane();
  if (lane == 0 || lane > max_code_bits) counts.of_literals = counts.of_distances = 0;
  std::uint32_t first_literal = 0;
  std::uint32_t first_distance = 0;
  const bool literals_fit =
      number_codes<Warp>(counts.of_literals, first_literal, tables.literal_code);
  const bool distances_fit =
      number_codes<Warp>(counts.of_distances, first_distance, tables.distance_code);
  // The fixed code of distances leaves out two.
  if (!literals_fit || !(distances_fit || fixed)) return InflateStatus::bad_lengths;
  sort_symbols<Warp>(lengths, counts.literals, first_literal, tables.sorted_literals);
  sort_symbols<Warp>(lengths + counts.literals, counts.distances, first_distance,
                     tables.sorted_distances);
  Warp::synchronize();
  fill_table<Warp>(tables.literals, literal_bits, tables.sorted_literals, tables.literal_code);
  fill_table<Warp>(tables.distances, distance_bits, tables.sorted_distances, tables.distance_code);
  return InflateStatus::good;
}

}  // namespace warpfold::cuda::inflate
