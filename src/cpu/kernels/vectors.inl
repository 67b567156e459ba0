/// Vectors as wide as the instruction set's registers.

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

constexpr int width = vector_bytes / 8;  ///< doubles in a vector

typedef double Doubles __attribute__((vector_size(vector_bytes)));
typedef std::int64_t Integers __attribute__((vector_size(vector_bytes)));
typedef std::uint64_t Words __attribute__((vector_size(vector_bytes)));
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef float HalfFloats __attribute__((vector_size(vector_bytes / 2)));

static inline Doubles load(const double* from) {
  Doubles vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

/// Widened, exactly.
static inline Doubles load(const float* from) {
  HalfFloats vector;
  __builtin_memcpy(&vector, from, sizeof vector);
#if defined(__AVX512F__)
  return (Doubles)_mm512_maskz_cvtps_pd(0xff, (__m256)vector);
#elif defined(__AVX2__)
  return (Doubles)_mm256_cvtps_pd((__m128)vector);
#else
  return __builtin_convertvector(vector, Doubles);
#endif
}

/// Asks for what will be read soon after `from`: the hardware by itself stops at page boundaries.
static inline void prefetch_after(const void* from) {
  constexpr std::uintptr_t distance = 4096;
  const auto ahead = reinterpret_cast<std::uintptr_t>(from) + distance;
  __builtin_prefetch(reinterpret_cast<const void*>(ahead));
}

static inline void store(double* to, Doubles vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

static inline Doubles broadcast(double value) { return Doubles{} + value; }

static inline Integers bits_of(Doubles vector) {
  Integers bits;
  __builtin_memcpy(&bits, &vector, sizeof bits);
  return bits;
}

static inline Doubles from_bits(Integers bits) {
  Doubles vector;
  __builtin_memcpy(&vector, &bits, sizeof vector);
  return vector;
}

constexpr std::int64_t magnitude_bits = 0x7fffffffffffffff;

static inline Doubles magnitude(Doubles vector) {
  return from_bits(bits_of(vector) & magnitude_bits);
}

static inline bool any(Integers bits) {
#if defined(__AVX512F__)
  return _mm512_test_epi64_mask((__m512i)bits, (__m512i)bits) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)bits, (__m256i)bits) == 0;
#else
  std::int64_t together = 0;
  for (int i = 0; i < width; ++i) together |= bits[i];
  return together != 0;
#endif
}

/// `best` where `candidate` is NaN, as in all four.
static inline Doubles greater_of(Doubles candidate, Doubles best) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_mask_max_pd((__m512d)best, 0xff, (__m512d)candidate, (__m512d)best);
#elif defined(__AVX2__)
  return (Doubles)_mm256_max_pd((__m256d)candidate, (__m256d)best);
#elif defined(__SSE2__)
  return (Doubles)_mm_max_pd((__m128d)candidate, (__m128d)best);
#else
  return candidate > best ? candidate : best;
#endif
}

static inline Floats greater_of(Floats candidate, Floats best) {
#if defined(__AVX512F__)
  return (Floats)_mm512_mask_max_ps((__m512)best, 0xffff, (__m512)candidate, (__m512)best);
#elif defined(__AVX2__)
  return (Floats)_mm256_max_ps((__m256)candidate, (__m256)best);
#elif defined(__SSE2__)
  return (Floats)_mm_max_ps((__m128)candidate, (__m128)best);
#else
  return candidate > best ? candidate : best;
#endif
}

static inline Doubles less_of(Doubles candidate, Doubles best) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_mask_min_pd((__m512d)best, 0xff, (__m512d)candidate, (__m512d)best);
#elif defined(__AVX2__)
  return (Doubles)_mm256_min_pd((__m256d)candidate, (__m256d)best);
#elif defined(__SSE2__)
  return (Doubles)_mm_min_pd((__m128d)candidate, (__m128d)best);
#else
  return candidate < best ? candidate : best;
#endif
}

static inline Floats less_of(Floats candidate, Floats best) {
#if defined(__AVX512F__)
  return (Floats)_mm512_mask_min_ps((__m512)best, 0xffff, (__m512)candidate, (__m512)best);
#elif defined(__AVX2__)
  return (Floats)_mm256_min_ps((__m256)candidate, (__m256)best);
#elif defined(__SSE2__)
  return (Floats)_mm_min_ps((__m128)candidate, (__m128)best);
#else
  return candidate < best ? candidate : best;
#endif
}

/// Returns the larger magnitude; `best`, itself one, where `candidate` is NaN.
static inline Doubles larger_magnitude(Doubles candidate, Doubles best) {
#if defined(__AVX512F__)
  constexpr int absolute_maximum = 0b1011;
  return (Doubles)_mm512_mask_range_pd((__m512d)best, 0xff, (__m512d)candidate, (__m512d)best,
                                       absolute_maximum);
#else
  return greater_of(magnitude(candidate), best);
#endif
}

#if defined(__AVX512F__)
/// Tells whether sums can round without raising the inexact flag, which then tells of the others
/// alone.
constexpr bool rounds_unflagged = true;
constexpr int quietly_to_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#else
constexpr bool rounds_unflagged = false;
#endif

/// a + b, a - b and a * b; where rounds_unflagged, the inexact flag stays as it is.
static inline Doubles add_quietly(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_maskz_add_round_pd(0xff, (__m512d)a, (__m512d)b, quietly_to_nearest);
#else
  return a + b;
#endif
}

static inline Doubles subtract_quietly(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_maskz_sub_round_pd(0xff, (__m512d)a, (__m512d)b, quietly_to_nearest);
#else
  return a - b;
#endif
}

static inline Doubles multiply_quietly(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_maskz_mul_round_pd(0xff, (__m512d)a, (__m512d)b, quietly_to_nearest);
#else
  return a * b;
#endif
}

/// a - b, where there are units for products that would else idle while those for sums are busy.
static inline Doubles difference_by_fma(Doubles a, Doubles b) {
#if defined(__AVX512F__)
  return (Doubles)_mm512_fmsub_pd((__m512d)a, _mm512_set1_pd(1.0), (__m512d)b);
#elif defined(__AVX2__)
  return (Doubles)_mm256_fmsub_pd((__m256d)a, _mm256_set1_pd(1.0), (__m256d)b);
#else
  return a - b;
#endif
}

/// Returns the double 2^exponent, for a normal one.
static inline double power_of_two(int exponent) {
  return __builtin_bit_cast(double, static_cast<std::int64_t>(exponent + 1023) << 52);
}
