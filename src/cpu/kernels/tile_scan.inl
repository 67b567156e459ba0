/// A tile's prefixes, as tile_arithmetic.hpp computes them.

/// Moves lanes up by `distance`, zeros into the lowest.
template <int distance, int... lane>
static inline Doubles shifted_up(Doubles vector, std::integer_sequence<int, lane...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(Doubles{}, vector,
                                 (lane < distance ? lane : width + lane - distance)...);
#else
  return Doubles{(lane < distance ? 0.0 : vector[lane < distance ? 0 : lane - distance])...};
#endif
}

template <int... lane>
static inline Doubles last_of(Doubles vector, std::integer_sequence<int, lane...>) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(vector, vector, (lane < 0 ? lane : width - 1)...);
#else
  return Doubles{vector[lane < 0 ? lane : width - 1]...};
#endif
}

/// The last lane in all of them.
static inline Doubles last_of(Doubles vector) {
  return last_of(vector, std::make_integer_sequence<int, width>{});
}

template <int distance>
static inline Doubles shifted_up(Doubles vector) {
  return shifted_up<distance>(vector, std::make_integer_sequence<int, width>{});
}

static inline Doubles lane_prefixes(Doubles vector) {
  vector += shifted_up<1>(vector);
  if constexpr (width > 2) vector += shifted_up<2>(vector);
  if constexpr (width > 4) vector += shifted_up<4>(vector);
  return vector;
}

struct DoublePairs {
  Doubles high;
  Doubles low;
};

static inline DoublePairs two_sum_vectors(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  const Doubles b_part = sum - a;
  const Doubles a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

/// a + b as rounded_to_odd() rounds.
static inline Doubles sum_to_odd(Doubles a, Doubles b) {
  const DoublePairs sum = two_sum_vectors(a, b);
  const Integers bits = bits_of(sum.high);
  const Integers towards_zero = (bits ^ bits_of(sum.low)) >> 63;
  return sum.low != 0.0 ? from_bits((bits + towards_zero) | 1) : sum.high;
}

/// high + low +- error, rounded.
template <bool to_odd>
struct RoundedPrefix {
  Doubles value;
  Integers uncertain;  ///< bits that differ between both ends

  inline RoundedPrefix(Doubles high, Doubles low, Doubles error)
      : value(rounded(high, low + error)),
        uncertain(bits_of(value) ^ bits_of(rounded(high, low - error))) {}
  inline RoundedPrefix(Doubles high, Doubles low)
      : value(rounded(high, low)), uncertain(Integers{}) {}

  static inline Doubles rounded(Doubles high, Doubles low) {
    return to_odd ? sum_to_odd(high, low) : high + low;
  }
};

static inline bool any_bit(Integers vector, std::int64_t bits) {
  std::int64_t all = 0;
  for (int lane = 0; lane < width; ++lane) all |= vector[lane];
  return (all & bits) != 0;
}

/// One of the slices of a tile's elements.
struct TileSlice {
  Doubles bias;
  Doubles before;  ///< the sum of the vectors before
  Integers used;

  /// Leaves of the elements what the slice does not hold; returns the slice's sums up to each, or
  /// before each.
  template <bool exclusive>
  inline Doubles take(Doubles& elements) {
    const Doubles part = (elements + bias) - bias;
    elements -= part;
    used |= bits_of(part);
    const Doubles inclusive = lane_prefixes(part);
    const Doubles prefixes = before + (exclusive ? shifted_up<1>(inclusive) : inclusive);
    before += last_of(inclusive);
    return prefixes;
  }
};

template <bool to_odd, bool exact, bool exclusive, class T>
static TileOutcome scan_tile_as(const T* tile, const TileTerms& terms, double* prefixes) {
  const Doubles error = broadcast(terms.error);
  const Doubles base_high = broadcast(terms.base.high);
  const Doubles base_low = broadcast(terms.base.low);
  TileSlice first = {broadcast(terms.bias[0]), Doubles{}, Integers{}};
  TileSlice second = {broadcast(terms.bias[1]), Doubles{}, Integers{}};
  Integers left = {};
  Integers uncertain = {};
  for (int i = 0; i < scan_order::tile_elements; i += width) {
    Doubles x = load(tile + i);
    const Doubles upper = first.take<exclusive>(x);
    const Doubles lower = second.take<exclusive>(x);
    left |= bits_of(x);
    const DoublePairs sum = two_sum_vectors(base_high, upper);
    const Doubles low = sum.low + (lower + base_low);
    using Prefix = RoundedPrefix<to_odd>;
    const Prefix prefix = exact ? Prefix(sum.high, low) : Prefix(sum.high, low, error);
    uncertain |= prefix.uncertain;
    store(prefixes + i, prefix.value);
  }
  return {!any_bit(uncertain, ~std::int64_t{0}),
          {any_bit(second.used, magnitude_bits), any_bit(left, magnitude_bits)},
          {first.before[0], second.before[0]}};
}

template <bool to_odd, class T>
static TileOutcome scan_tile(const T* tile, const TileTerms& terms, bool exclusive,
                             double* prefixes) {
  if (terms.error == 0.0)
    return exclusive ? scan_tile_as<to_odd, true, true>(tile, terms, prefixes)
                     : scan_tile_as<to_odd, true, false>(tile, terms, prefixes);
  return exclusive ? scan_tile_as<to_odd, false, true>(tile, terms, prefixes)
                   : scan_tile_as<to_odd, false, false>(tile, terms, prefixes);
}
