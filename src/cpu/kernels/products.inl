/// Products of doubles as two, and their sums.

/// Tells of finite factors and their product whether that is exact as two doubles.
static inline Integers is_exact(Doubles a, Doubles b, Doubles product) {
  const Doubles size = magnitude(product);
  return (magnitude(a) <= broadcast(largest_factor)) & (magnitude(b) <= broadcast(largest_factor)) &
         (size <= broadcast(largest_product)) &
         ((size >= broadcast(least_product)) | (a == Doubles{}) | (b == Doubles{}));
}

/// Kinds of products that products() and multiply() have found so far, in any element.
struct FoundKinds {
  Integers inexact = {};
  Integers rest = {};

  ProductKinds kinds() const { return {any(inexact), any(rest)}; }
};

static ProductKinds products(const double* x, const double* y, std::size_t n, double* high,
                             double* low) {
  FoundKinds found;
  for (std::size_t i = 0; i < n; i += width) {
    const Doubles a = load(x + i);
    const Doubles b = load(y + i);
    const Doubles product = a * b;
    const Doubles error = product_error(a, b, product);
    found.inexact |= ~is_exact(a, b, product);
    found.rest |= bits_of(error) & magnitude_bits;
    store(high + i, product);
    store(low + i, error);
  }
  return found.kinds();
}

constexpr std::int64_t nan_bits = 0x7ff8000000000000;
constexpr std::int64_t left_out_bits = nan_bits + 1;

/// The bits of the mark of floats that are left out, widened.
template <class T>
constexpr std::int64_t mark_bits = sizeof(T) == sizeof(double) ? nan_bits + 1
                                                               : nan_bits + (std::int64_t{1} << 29);

static inline Integers are_finite(Doubles x) { return magnitude(x) <= broadcast(__DBL_MAX__); }

/// Stores the terms of a vector of elements of which some are left out, are not finite, or have
/// products of unusual size.
template <class T>
static inline void store_unusual(Doubles value, Doubles factor, Multiplying how, double* high,
                                 double* low, double* factors, FoundKinds& found) {
  const Integers bits = bits_of(value);
  const Integers marks = Integers{} - (how.marked ? 1 : 0);
  const Integers weighs = Integers{} - (how.by_weights ? 1 : 0);
  const Integers left_out = ((bits == mark_bits<T>)&marks) | (bits_of(factor) == left_out_bits) |
                            ((factor == Doubles{}) & weighs);
  const Doubles product = value * factor;
  const Integers finite = are_finite(value) & are_finite(factor) & ~left_out;
  const Integers error = bits_of(product_error(value, factor, product)) & finite;
  found.inexact |= finite & ~is_exact(value, factor, product);
  found.rest |= error & magnitude_bits;
  const Integers number = bits_of(product);
  const Integers canonical = product == product ? number : Integers{} + nan_bits;
  store(high, from_bits(left_out ? Integers{} + left_out_bits : canonical));
  store(low, from_bits(error));
  store(factors, from_bits(bits_of(factor) & ~left_out & (value == value)));
}

template <class T>
static ProductKinds multiply(const T* x, std::size_t n, Multiplying how,
                             const ProductTerms& terms) {
  FoundKinds found;
  for (std::size_t i = 0; i < n; i += width) {
    const Doubles value = load_columns(x, i, n);
    const Doubles factor = load(terms.factors + i);
    const Doubles product = value * factor;
    const Doubles size = magnitude(product);
    Integers usual = (size >= broadcast(least_product)) & (size <= broadcast(largest_product));
    usual &= (magnitude(factor) <= broadcast(largest_factor));
    if constexpr (sizeof(T) == sizeof(double))
      usual &= (magnitude(value) <= broadcast(largest_factor));
    if (any(~usual)) {
      store_unusual<T>(value, factor, how, terms.high + i, terms.low + i, terms.factors + i, found);
      continue;
    }
    const Doubles error = product_error(value, factor, product);
    found.rest |= bits_of(error) & magnitude_bits;
    store(terms.high + i, product);
    store(terms.low + i, error);
  }
  return found.kinds();
}

/// The rows of a matrix of elements whose products with factors are summed: one factor for each, or
/// one for a row.
template <class T, bool of_row>
struct ProductRows {
  struct Taken {
    Doubles x;
    Doubles factor;
  };

  const T* x;
  std::size_t stride;
  FactorRows factors;

  ProductRows below(std::size_t row) const {
    return {x + row * stride, stride, {factors_of(row), factors.stride}};
  }

  const double* factors_of(std::size_t row) const {
    return factors.first + static_cast<std::ptrdiff_t>(row) * factors.stride;
  }

  Taken take(std::size_t row, std::size_t column) const {
    const double* const factor = factors_of(row);
    return {load(x + row * stride + column), of_row ? broadcast(*factor) : load(factor + column)};
  }

  Taken take(std::size_t row, std::size_t column, std::size_t columns) const {
    const double* const factor = factors_of(row);
    return {load_columns(x + row * stride, column, columns),
            of_row ? broadcast(*factor) : load_columns(factor, column, columns, 1.0)};
  }

  template <std::size_t levels>
  static Integers add(Doubles (&sum)[levels], Taken taken) {
    const Doubles size = magnitude(taken.factor);
    const Doubles product = multiply_quietly(taken.x, taken.factor);
    const Doubles error = product_error(taken.x, taken.factor, product);
    Integers left =
        ~((size >= broadcast(least_usual_factor)) & (size <= broadcast(largest_usual_factor)));
    if constexpr (sizeof(T) == sizeof(double)) {
      const Doubles size_of_x = magnitude(taken.x);
      left |= ~(size_of_x <= broadcast(largest_usual_value));
      left |= (size_of_x < broadcast(least_usual_value)) & (size_of_x != Doubles{});
    }
    left |= add_exactly(sum, product);
    return left | add_exactly < levels == 1 ? 0 : 1 > (sum, error);
  }
};

template <class T, bool of_row, std::size_t levels>
static bool column_products(const T* x, std::size_t rows, std::size_t stride, std::size_t columns,
                            const FactorRows& factors, double* sums) {
  return sum_columns<levels>(ProductRows<T, of_row>{x, stride, factors}, rows, columns, sums);
}

template <class T, std::size_t levels>
static bool line_products(const T* x, std::size_t lines, std::size_t stride, std::size_t n,
                          const FactorRows& factors, double* sums) {
  return sum_lines<levels>(ProductRows<T, false>{x, stride, factors}, lines, n, sums);
}
