/// Error-free sums of a block's terms: see Extraction.

constexpr int accumulators = 4;  ///< vectors of each level, to hide the additions' latency
constexpr int step = accumulators * width;  ///< elements taken at a time

constexpr int log2_of(std::size_t value) { return value <= 1 ? 0 : 1 + log2_of(value / 2); }

constexpr int headroom = log2_of(block_elements / static_cast<std::size_t>(step)) + 1;

/// a * b - product, where both are exact doubles.
static inline Doubles product_error(Doubles a, Doubles b, Doubles product) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)product);
#elif defined(__AVX2__)
  return (Doubles)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)product);
#else
  // Dekker's product with Veltkamp's splits, for which |a| and |b| leave room.
  const Doubles scaled_a = a * 0x1.0000002p27;
  const Doubles scaled_b = b * 0x1.0000002p27;
  const Doubles high_a = scaled_a - (scaled_a - a);
  const Doubles high_b = scaled_b - (scaled_b - b);
  const Doubles low_a = a - high_a;
  const Doubles low_b = b - high_b;
  return ((high_a * high_b - product) + (high_a * low_b + low_a * high_b)) + low_a * low_b;
#endif
}

/// x * x - square, likewise.
static inline Doubles square_error(Doubles x, Doubles square) {
  return product_error(x, x, square);
}

template <Term term>
static inline Doubles term_of(Doubles x) {
  if constexpr (term == Term::value) {
    return x;
  } else if constexpr (term == Term::magnitude) {
    return magnitude(x);
  } else {
    const Doubles square = multiply_quietly(x, x);
    if constexpr (term == Term::square)
      return square;
    else
      return square_error(x, square);
  }
}

template <std::size_t levels>
struct Extractor {
  Doubles level[accumulators][levels];
  Doubles largest[accumulators];
  Doubles remainder[accumulators];  ///< used if rounds_unflagged
  Integers left[accumulators];      ///< elsewhere

  template <Term term, class T>
  inline void take(const T* x) {
    for (int a = 0; a < accumulators; ++a) {
      prefetch_after(x + a * width);
      Doubles rest = term_of<term>(load(x + a * width));
      largest[a] = larger_magnitude(rest, largest[a]);
      for (std::size_t l = 0; l < levels; ++l) {
        const Doubles sum = add_quietly(level[a][l], rest);
        rest -= difference_by_fma(sum, level[a][l]);
        level[a][l] = sum;
      }
      if constexpr (rounds_unflagged)
        remainder[a] += rest;
      else
        left[a] |= bits_of(rest);
    }
  }
};

template <>
struct Extractor<0> {
  Doubles sum[accumulators];

  template <Term term, class T>
  inline void take(const T* x) {
    for (int a = 0; a < accumulators; ++a) {
      prefetch_after(x + a * width);
      sum[a] += term_of<term>(load(x + a * width));
    }
  }
};

template <Term term, class T, std::size_t levels>
static inline void take_block(Extractor<levels>& extractor, const T* x, std::size_t n) {
  Extractor<levels> running = extractor;
  std::size_t i = 0;
  for (; i + step <= n; i += step) running.template take<term>(x + i);
  if (i < n) {
    T tail[step] = {};
    for (int k = 0; i < n; ++i, ++k) tail[k] = x[i];
    running.template take<term>(tail);
  }
  extractor = running;
}

static inline double total_of(const Doubles (&sums)[accumulators]) {
  const Doubles sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = 0.0;
  for (int i = 0; i < width; ++i) total += sum[i];
  return total;
}

template <class T, Term term>
static Extraction plain_sum(const T* x, std::size_t n, int) {
  Extractor<0> extractor = {};
  take_block<term>(extractor, x, n);
  Extraction result = {};
  result.plain = total_of(extractor.sum);
  result.in_range = __builtin_isfinite(result.plain);
  result.complete = true;
  return result;
}

template <std::size_t levels>
static inline void collect(const Extractor<levels>& extractor, const int (&exponents)[levels],
                           Extraction& result) {
  constexpr std::uint64_t interval = std::uint64_t{1} << 52;
  Words outside = {};
  Integers left = {};
  Doubles largest = {};
  for (std::size_t l = 0; l < levels; ++l) {
    const auto lower = __builtin_bit_cast(std::uint64_t, power_of_two(exponents[l]));
    Words units = {};
    for (int a = 0; a < accumulators; ++a) {
      const Words offset = reinterpret_cast<Words>(extractor.level[a][l]) - lower;
      outside |= reinterpret_cast<Words>(offset > interval);
      units += offset - interval / 2;
    }
    std::uint64_t total = 0;
    for (int i = 0; i < width; ++i) total += units[i];
    result.units[l] = static_cast<std::int64_t>(total);
  }
  for (int a = 0; a < accumulators; ++a) {
    left |= extractor.left[a] & magnitude_bits;
    largest = greater_of(extractor.largest[a], largest);
  }
  result.in_range = true;
  result.complete = true;
  for (int i = 0; i < width; ++i) {
    if (outside[i] != 0) result.in_range = false;
    if (left[i] != 0) result.complete = false;
    if (largest[i] > result.largest) result.largest = largest[i];
  }
  result.plain = total_of(extractor.remainder);
  const double maximum = power_of_two(exponents[0]) * power_of_two(-headroom);
  if (result.largest > maximum) result.in_range = false;
}

template <class T, Term term, std::size_t levels>
static Extraction extract(const T* x, std::size_t n, int exponent) {
  int exponents[levels];
  Extractor<levels> extractor = {};
  for (std::size_t l = 0; l < levels; ++l) {
    exponents[l] = exponent;
    for (int a = 0; a < accumulators; ++a)
      extractor.level[a][l] = broadcast(1.5 * power_of_two(exponent));
    exponent = exponent - 53 + headroom;
    if (exponent < -1022) exponent = -1022;
  }
  take_block<term>(extractor, x, n);
  Extraction result = {};
  collect(extractor, exponents, result);
  return result;
}
