/// Blocks of integers. A block's elements of up to 16 bits sum in 32 bits, of 32 bits in 64; wider
/// ones are split into digits of 32 bits first.

static_assert(block_elements <= std::size_t{1} << 14, "so that 16 bits sum in 31");

template <class T>
static inline std::make_unsigned_t<T> magnitude_of(T x) {
  using U = std::make_unsigned_t<T>;
  return x < T{0} ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x);
}

static inline uint128 joined(std::uint64_t low_digits, std::uint64_t high_digits) {
  return (static_cast<uint128>(high_digits) << 32) + low_digits;
}

template <class T>
static int128 integer_sum(const T* x, std::size_t n) {
  if constexpr (sizeof(T) <= 2) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i];
    return sum;
  } else if constexpr (sizeof(T) == 4) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i];
    return sum;
  } else {
    std::uint64_t low = 0;
    T high = 0;
    for (std::size_t i = 0; i < n; ++i) {
      low += static_cast<std::uint32_t>(x[i]);
      high += x[i] >> 32;
    }
    return static_cast<int128>(high) * (int128{1} << 32) + static_cast<int128>(low);
  }
}

template <class T>
static uint128 integer_absolute(const T* x, std::size_t n) {
  if constexpr (sizeof(T) <= 2) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += magnitude_of(x[i]);
    return sum;
  } else if constexpr (sizeof(T) == 4) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += magnitude_of(x[i]);
    return sum;
  } else {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t size = magnitude_of(x[i]);
      low += static_cast<std::uint32_t>(size);
      high += size >> 32;
    }
    return joined(low, high);
  }
}

/// Sums 64-bit products digit by digit.
struct ProductSum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  inline void take(std::uint64_t product) {
    low += static_cast<std::uint32_t>(product);
    high += product >> 32;
  }
  inline uint128 total() const { return joined(low, high); }
};

template <class T>
static SquareSums integer_squares(const T* x, std::size_t n) {
  if constexpr (sizeof(T) == 1) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<std::uint32_t>(x[i] * x[i]);
    return {sum, 0, 0};
  } else if constexpr (sizeof(T) == 2) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t size = magnitude_of(x[i]);
      sum += size * size;
    }
    return {sum, 0, 0};
  } else if constexpr (sizeof(T) == 4) {
    ProductSum sum;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t size = magnitude_of(x[i]);
      sum.take(size * size);
    }
    return {sum.total(), 0, 0};
  } else {
    ProductSum low;
    ProductSum middle;
    ProductSum high;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t size = magnitude_of(x[i]);
      const std::uint64_t low_digit = static_cast<std::uint32_t>(size);
      const std::uint64_t high_digit = size >> 32;
      low.take(low_digit * low_digit);
      middle.take(low_digit * high_digit);
      high.take(high_digit * high_digit);
    }
    return {low.total(), middle.total(), high.total()};
  }
}

template <class T>
static MinMax<T> integer_extrema(const T* x, std::size_t n) {
  T minimum = x[0];
  T maximum = x[0];
  for (std::size_t i = 0; i < n; ++i) {
    minimum = x[i] < minimum ? x[i] : minimum;
    maximum = x[i] > maximum ? x[i] : maximum;
  }
  return {minimum, maximum};
}
