/// Values of elements, and which of them count.

/// As ordered_key() orders values of the type.
template <class T>
static inline NativeKey<T> native_key(T x) {
  using Key = NativeKey<T>;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    const Key bits = __builtin_bit_cast(Key, x + T{0});
    const Key all_if_negative = Key{0} - (bits >> (8 * sizeof(Key) - 1));
    return bits ^ (all_if_negative | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(x)) ^ sign;
  } else {
    return x;
  }
}

/// Returns 64 bytes of 0 or 1 as bits, the first one lowest.
static inline std::uint64_t bits_of_bytes(const std::uint8_t* bytes) {
#if defined(__AVX512F__)
  const __m512i vector = _mm512_loadu_si512(bytes);
  return _mm512_test_epi8_mask(vector, vector);
#elif defined(__AVX2__)
  const auto half = [](const std::uint8_t* from) {
    const __m256i vector = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(vector, 7)));
  };
  return half(bytes) | std::uint64_t{half(bytes + word_bits / 2)} << word_bits / 2;
#else
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < word_bits; ++i) bits |= std::uint64_t{bytes[i]} << i;
  return bits;
#endif
}

/// The other way around.
static inline void spread_bits(std::uint64_t bits, std::uint8_t* bytes) {
#if defined(__AVX512F__)
  _mm512_storeu_si512(bytes, _mm512_maskz_set1_epi8(bits, 1));
#else
  for (std::size_t i = 0; i < word_bits; ++i) bytes[i] = static_cast<std::uint8_t>(bits >> i & 1);
#endif
}

template <int excluded, class T>
static inline std::uint64_t select_word(const T* __restrict x, std::size_t n,
                                        const KeyFilter<NativeKey<T>>& filter) {
  using Key = NativeKey<T>;
  const Key nan = filter.nan ? 1 : 0;
  std::uint8_t counts[word_bits] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const Key key = native_key(x[i]);
    Key selected = static_cast<Key>(key - filter.minimum) <= filter.span ? 1 : 0;
    for (int e = 0; e < excluded; ++e) selected &= key != filter.excluded[e] ? 1 : 0;
    if constexpr (std::is_floating_point_v<T>) selected = x[i] == x[i] ? selected : nan;
    counts[i] = static_cast<std::uint8_t>(selected);
  }
  return bits_of_bytes(counts);
}

template <int excluded, class T>
static void select_but(const T* x, std::size_t n, const KeyFilter<NativeKey<T>>& from,
                       std::uint64_t* counts) {
  const KeyFilter<NativeKey<T>> filter = from;
  std::size_t first = 0;
  for (; first + word_bits <= n; first += word_bits)
    counts[first / word_bits] = select_word<excluded>(x + first, word_bits, filter);
  if (first < n) counts[first / word_bits] = select_word<excluded>(x + first, n - first, filter);
}

static std::size_t count_bits(const std::uint64_t* words, std::size_t n) {
  std::size_t set = 0;
  for (std::size_t i = 0; i < n; ++i)
    set += static_cast<std::size_t>(__builtin_popcountll(words[i]));
  return set;
}

template <class T>
static std::size_t select_values(const T* x, std::size_t n, const KeyFilter<NativeKey<T>>& filter,
                                 std::uint64_t* counts) {
  if (filter.excluded_count == 0)
    select_but<0>(x, n, filter, counts);
  else if (filter.excluded_count == 1)
    select_but<1>(x, n, filter, counts);
  else if (filter.excluded_count == 2)
    select_but<2>(x, n, filter, counts);
  else
    select_but<max_excluded_keys>(x, n, filter, counts);
  return count_bits(counts, (n + word_bits - 1) / word_bits);
}

/// Elements that are packed at a time; 1: one by one.
template <class T>
#if defined(__AVX512F__)
constexpr std::size_t packed_at_once = sizeof(T) == 8 ? 8 : 16;
#elif defined(__AVX2__)
constexpr std::size_t packed_at_once = sizeof(T) == 4 ? 8
                                       : sizeof(T) == 1 ? 8
                                                        : 4;
#else
constexpr std::size_t packed_at_once = 1;
#endif

/// Writes those of packed_at_once elements whose bits are set, packed, and others behind them.
template <class T>
static inline void pack_group(const T* x, [[maybe_unused]] std::uint64_t bits, T* to) {
#if defined(__AVX512F__)
  const auto mask = static_cast<__mmask16>(bits);
  if constexpr (sizeof(T) == 8) {
    _mm512_storeu_si512(
        to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(bits), _mm512_loadu_si512(x)));
  } else if constexpr (sizeof(T) == 4) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(x)));
  } else if constexpr (sizeof(T) == 2) {
    const __m512i wide = _mm512_maskz_cvtepu16_epi32(
        0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to),
        _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_maskz_compress_epi32(mask, wide)));
  } else {
    const __m512i wide =
        _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm512_maskz_cvtepi32_epi8(0xffff, _mm512_maskz_compress_epi32(mask, wide)));
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) <= 2) {
    std::uint64_t word;
    __builtin_memcpy(&word, x, sizeof word);
    const std::uint64_t kept = sizeof(T) == 1 ? _pdep_u64(bits, 0x0101010101010101) * 0xff
                                              : _pdep_u64(bits, 0x0001000100010001) * 0xffff;
    word = _pext_u64(word, kept);
    __builtin_memcpy(to, &word, sizeof word);
  } else {
    const std::uint64_t kept = sizeof(T) == 4 ? _pdep_u64(bits, 0x0101010101010101) * 0xff
                                              : _pdep_u64(bits, 0x0001000100010001) * 0xffff;
    const auto lanes = static_cast<std::int64_t>(_pext_u64(0x0706050403020100, kept));
    const __m256i vector = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to),
        _mm256_permutevar8x32_epi32(vector, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(lanes))));
  }
#else
  *to = *x;
#endif
}

/// Elements that count all together are copied as they are.
template <class T>
static void pack_values(const T* __restrict x, std::size_t n, const std::uint64_t* counts,
                        T* __restrict values) {
  constexpr std::size_t group = packed_at_once<T>;
  constexpr std::uint64_t of_group = (std::uint64_t{1} << group) - 1;
  for (std::size_t first = 0; first < n; first += word_bits, ++counts) {
    std::uint64_t bits = *counts;
    if (bits == ~std::uint64_t{0}) {
      __builtin_memcpy(values, x + first, word_bits * sizeof(T));
      values += word_bits;
    } else if (group > 1 && first + word_bits <= n) {
      for (std::size_t i = 0; bits != 0; i += group, bits >>= group) {
        pack_group(x + first + i, bits & of_group, values);
        values += __builtin_popcountll(bits & of_group);
      }
    } else {
      for (; bits != 0; bits &= bits - 1)
        *values++ = x[first + static_cast<std::size_t>(__builtin_ctzll(bits))];
    }
  }
}

/// NaN canonical.
template <class T>
static inline T with_one_nan(T x) {
  return x == x ? x : static_cast<T>(__builtin_nan(""));
}

template <class T, class Value>
static void unpack_values(const T* __restrict x, std::size_t n, const UnpackTerms& terms,
                          Value* __restrict values) {
  const auto offset = static_cast<Value>(terms.offset);
  if (sizeof(Value) > sizeof(float) && terms.product_is_f32) {
    const auto scale = static_cast<float>(terms.scale);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = with_one_nan(static_cast<Value>(static_cast<float>(x[i]) * scale) + offset);
  } else {
    const auto scale = static_cast<Value>(terms.scale);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = with_one_nan(static_cast<Value>(x[i]) * scale + offset);
  }
}

template <class T>
static void replace_values(const T* __restrict x, std::size_t n,
                           const std::uint64_t* __restrict words, T left_out,
                           T* __restrict values) {
  std::uint8_t counts[word_bits];
  const auto replace = [&](std::size_t first, std::size_t size) {
    spread_bits(words[first / word_bits], counts);
    for (std::size_t i = 0; i < size; ++i) {
      T value = x[first + i];
      if constexpr (std::is_floating_point_v<T>) value = with_one_nan(value);
      values[first + i] = counts[i] != 0 ? value : left_out;
    }
  };
  std::size_t first = 0;
  for (; first + word_bits <= n; first += word_bits) replace(first, word_bits);
  if (first < n) replace(first, n - first);
}
