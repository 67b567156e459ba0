/// Products of doubles as two.

/// Tells of finite factors and their product whether that is exact as two doubles.
static inline Integers is_exact(Doubles a, Doubles b, Doubles product) {
  const Doubles size = magnitude(product);
  return (magnitude(a) <= broadcast(largest_factor)) & (magnitude(b) <= broadcast(largest_factor)) &
         (size <= broadcast(largest_product)) &
         ((size >= broadcast(least_product)) | (a == Doubles{}) | (b == Doubles{}));
}

static ProductKinds products(const double* x, const double* y, std::size_t n, double* high,
                             double* low) {
  Integers inexact = {};
  Integers rest = {};
  for (std::size_t i = 0; i < n; i += width) {
    const Doubles a = load(x + i);
    const Doubles b = load(y + i);
    const Doubles product = a * b;
    const Doubles error = product_error(a, b, product);
    inexact |= ~is_exact(a, b, product);
    rest |= bits_of(error) & magnitude_bits;
    store(high + i, product);
    store(low + i, error);
  }
  return {any(inexact), any(rest)};
}

constexpr std::int64_t nan_bits = 0x7ff8000000000000;
constexpr std::int64_t no_factor_bits = nan_bits + 1;

/// The bits of the mark of floats that are left out, widened.
template <class T>
constexpr std::int64_t mark_bits = sizeof(T) == sizeof(double) ? nan_bits + 1
                                                               : nan_bits + (std::int64_t{1} << 29);

static inline Integers are_finite(Doubles x) { return magnitude(x) <= broadcast(__DBL_MAX__); }

template <class T>
static ProductKinds multiply(const T* x, const double* factors, std::size_t n, Multiplying how,
                             const ProductTerms& terms) {
  const Integers marks = Integers{} + (how.marked ? mark_bits<T> : 0);
  const Integers weighs = Integers{} - (how.by_weights ? 1 : 0);
  Integers inexact = {};
  Integers rest = {};
  for (std::size_t i = 0; i < n; i += width) {
    const Doubles value = load_columns(x, i, n);
    const Doubles factor = load(factors + i);
    const Integers bits = bits_of(value);
    const Integers left_out = ((bits == marks) & (marks != 0)) |
                              (bits_of(factor) == no_factor_bits) |
                              ((factor == Doubles{}) & weighs);
    const Doubles product = value * factor;
    const Integers has_rest = are_finite(value) & are_finite(factor) & ~left_out;
    const Integers error = bits_of(product_error(value, factor, product)) & has_rest;
    inexact |= has_rest & ~is_exact(value, factor, product);
    rest |= error & magnitude_bits;
    const Integers number = bits_of(product);
    const Integers canonical = product == product ? number : Integers{} + nan_bits;
    store(terms.high + i, from_bits(left_out ? Integers{} + no_factor_bits : canonical));
    store(terms.low + i, from_bits(error));
    if (terms.weights != nullptr)
      store(terms.weights + i, from_bits(bits_of(factor) & ~left_out & (value == value)));
  }
  return {any(inexact), any(rest)};
}
