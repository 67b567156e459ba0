/// Blocks of floats and doubles but for their sums.

template <class T>
struct FloatLayout;

template <>
struct FloatLayout<float> {
  using Bits = std::int32_t;
  using Vector = Floats;
  static constexpr Bits magnitude = 0x7fffffff;
  static constexpr Bits infinity = 0x7f800000;
  static constexpr Bits negative_infinity = infinity | ~magnitude;
};

template <>
struct FloatLayout<double> {
  using Bits = std::int64_t;
  using Vector = Doubles;
  static constexpr Bits magnitude = 0x7fffffffffffffff;
  static constexpr Bits infinity = 0x7ff0000000000000;
  static constexpr Bits negative_infinity = infinity | ~magnitude;
};

template <class T>
static MinMax<T> float_extrema(const T* x, std::size_t n) {
  using Vector = typename FloatLayout<T>::Vector;
  constexpr std::size_t vector_elements = sizeof(Vector) / sizeof(T);
  constexpr std::size_t group = accumulators * vector_elements;
  const T infinity = static_cast<T>(__builtin_inf());
  Vector minimum[accumulators];
  Vector maximum[accumulators];
  for (int a = 0; a < accumulators; ++a) {
    minimum[a] = Vector{} + infinity;
    maximum[a] = Vector{} - infinity;
  }
  std::size_t i = 0;
  for (; i + group <= n; i += group) {
    for (std::size_t a = 0; a < accumulators; ++a) {
      Vector candidate;
      __builtin_memcpy(&candidate, x + i + a * vector_elements, sizeof candidate);
      minimum[a] = less_of(candidate, minimum[a]);
      maximum[a] = greater_of(candidate, maximum[a]);
    }
  }
  MinMax<T> range = {infinity, -infinity};
  for (int a = 0; a < accumulators; ++a) {
    for (std::size_t k = 0; k < vector_elements; ++k) {
      if (minimum[a][k] < range.minimum) range.minimum = minimum[a][k];
      if (maximum[a][k] > range.maximum) range.maximum = maximum[a][k];
    }
  }
  for (; i < n; ++i) {
    if (x[i] < range.minimum) range.minimum = x[i];
    if (x[i] > range.maximum) range.maximum = x[i];
  }
  return range;
}

template <class T>
static std::size_t find(const T* x, std::size_t n, T value) {
  constexpr std::size_t chunk = 64;
  std::size_t i = 0;
  for (; i + chunk <= n; i += chunk) {
    int found = 0;
    for (std::size_t k = 0; k < chunk; ++k) found |= x[i + k] == value ? 1 : 0;
    if (found != 0) break;
  }
  while (i < n && !(x[i] == value)) ++i;
  return i;
}

template <class T>
static SpecialCounts sanitize(const T* __restrict x, std::size_t n, T* __restrict finite) {
  using Layout = FloatLayout<T>;
  using Bits = typename Layout::Bits;
  Bits nan = 0;
  Bits positive = 0;
  Bits negative = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Bits bits = __builtin_bit_cast(Bits, x[i]);
    const Bits size = bits & Layout::magnitude;
    nan += static_cast<Bits>(size > Layout::infinity);
    positive += static_cast<Bits>(bits == Layout::infinity);
    negative += static_cast<Bits>(bits == Layout::negative_infinity);
    finite[i] = __builtin_bit_cast(T, bits & -static_cast<Bits>(size < Layout::infinity));
  }
  return {nan, positive, negative};
}

template <class T>
static std::size_t drop_unsquarable(const T* __restrict x, std::size_t n, T* __restrict squarable) {
  std::int64_t dropped = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = __builtin_fabs(static_cast<double>(x[i]));
    const bool outside = ((size != 0.0) & (size < 0x1p-480)) | (size > 0x1p500);
    dropped += static_cast<std::int64_t>(outside);
    squarable[i] = outside ? T{0} : x[i];
  }
  return static_cast<std::size_t>(dropped);
}
