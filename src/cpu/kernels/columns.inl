/// Columns of a matrix whose row r + 1 begins `stride` elements after row r.

constexpr std::size_t vector_columns = width;

/// Returns a vector of elements; those of columns that there are not are `missing`.
template <class T>
static inline Doubles load_columns(const T* row, std::size_t first, std::size_t columns,
                                   T missing = 0) {
  if (first + vector_columns <= columns) return load(row + first);
#if defined(__AVX512F__)
  const auto present = static_cast<__mmask8>((1u << (columns - first)) - 1);
  if constexpr (sizeof(T) == sizeof(double))
    return (Doubles)_mm512_mask_loadu_pd(_mm512_set1_pd(missing), present, row + first);
  else
    return (Doubles)_mm512_maskz_cvtps_pd(
        0xff, _mm256_mask_loadu_ps(_mm256_set1_ps(missing), present, row + first));
#else
  T some[vector_columns];
  for (std::size_t i = 0; i < vector_columns; ++i)
    some[i] = first + i < columns ? row[first + i] : missing;
  return load(some);
#endif
}

/// Sums as two_sum_vectors does, where rounds_unflagged without raising the inexact flag.
static inline DoublePairs two_sum_quietly(Doubles a, Doubles b) {
  const Doubles sum = add_quietly(a, b);
  const Doubles b_part = subtract_quietly(sum, a);
  const Doubles a_part = subtract_quietly(sum, b_part);
  return {sum, (a - a_part) + (b - b_part)};
}

/// Adds to a sum of `levels` vectors from level `first` on, each catching what the one before
/// rounds off. What the last one does raises the inexact flag (rounds_unflagged, or a single
/// level); or its bits are returned.
template <std::size_t first = 0, std::size_t levels>
static inline Integers add_exactly(Doubles (&sum)[levels], Doubles addend) {
  constexpr bool flags_last = rounds_unflagged || levels == 1;
  for (std::size_t l = first; l < levels - (flags_last ? 1 : 0); ++l) {
    const DoublePairs taken = two_sum_quietly(sum[l], addend);
    sum[l] = taken.high;
    addend = taken.low;
  }
  if constexpr (!flags_last) return bits_of(addend) & magnitude_bits;
  sum[levels - 1] += addend;
  return Integers{};
}

/// Adds the terms of some elements; returns bits that are set where a sum is not exact.
template <class T, Term term, std::size_t levels>
static inline Integers add_terms(Doubles (&sum)[levels], Doubles x) {
  const Doubles addend = term_of<term>(x);
  Integers left = add_exactly(sum, addend);
  if constexpr (term == Term::square && sizeof(T) == sizeof(double)) {
    left |= add_exactly(sum, square_error(x, addend));
    const Doubles size = magnitude(x);
    left |= (size < broadcast(0x1p-480)) & (size != Doubles{});
  }
  return left;
}

/// The rows of a matrix of elements whose terms are summed.
template <class T, Term term>
struct ElementRows {
  using Taken = Doubles;

  const T* x;
  std::size_t stride;

  ElementRows below(std::size_t row) const { return {x + row * stride, stride}; }

  Taken take(std::size_t row, std::size_t column) const { return load(x + row * stride + column); }

  /// Takes a vector of which columns may be missing.
  Taken take(std::size_t row, std::size_t column, std::size_t columns) const {
    return load_columns(x + row * stride, column, columns);
  }

  template <std::size_t levels>
  static Integers add(Doubles (&sum)[levels], Taken x) {
    return add_terms<T, term>(sum, x);
  }
};

/// Bits that are set where a sum is too large for an addend, or NaN.
static inline Integers beyond_addends(Doubles sum) {
  return ~(magnitude(sum) <= broadcast(largest_addend));
}

/// Rows whose elements of a column are added one behind another, so that its sum stays in registers
/// for as long: as many, or up to twice as many at the end.
constexpr std::size_t rows_at_a_time = 8;

/// Adds some rows' elements from column `first` on; returns bits that are set where a sum is not
/// exact.
template <class Rows, std::size_t levels>
static inline Integers add_rows(Doubles (&sum)[levels], const Rows& matrix, std::size_t rows,
                                std::size_t first, std::size_t columns) {
  Integers left = {};
  std::size_t r = 0;
  if (first + vector_columns > columns) {
    for (; r < rows; ++r) left |= Rows::add(sum, matrix.take(r, first, columns));
  } else if (rows >= rows_at_a_time) {
    for (; r < rows_at_a_time; ++r) left |= Rows::add(sum, matrix.take(r, first));
  }
  for (; r < rows; ++r) left |= Rows::add(sum, matrix.take(r, first));
  return left;
}

template <std::size_t levels, class Rows>
static inline bool sum_columns(const Rows& matrix, std::size_t rows, std::size_t columns,
                               double* sums) {
  Integers left = {};
  for (std::size_t r = 0, some = 0; r < rows; r += some) {
    some = rows - r < 2 * rows_at_a_time ? rows - r : rows_at_a_time;
    for (std::size_t c = 0; c < columns; c += vector_columns) {
      Doubles sum[levels];
      for (std::size_t l = 0; l < levels; ++l)
        sum[l] = r == 0 ? Doubles{} : load(sums + l * column_tile + c);
      left |= add_rows(sum, matrix.below(r), some, c, columns);
      for (std::size_t l = 0; l < levels; ++l) store(sums + l * column_tile + c, sum[l]);
    }
  }
  for (std::size_t c = 0; c < columns; c += vector_columns) left |= beyond_addends(load(sums + c));
  return !any(left);
}

template <class T, Term term, std::size_t levels>
static bool column_sums(const T* x, std::size_t rows, std::size_t stride, std::size_t columns,
                        double* sums) {
  return sum_columns<levels>(ElementRows<T, term>{x, stride}, rows, columns, sums);
}

/// Adds a vector to expansions' parts from number `part` on; returns the number of the first one
/// that is as it was. What there is no room for stays in the vector.
static inline int add_to_parts(Doubles& addend, double* const (&parts)[expansion_parts], int part,
                               std::size_t column) {
  for (; part < expansion_parts; ++part) {
    const DoublePairs taken = two_sum_vectors(load(parts[part] + column), addend);
    store(parts[part] + column, taken.high);
    addend = taken.low;
    if (!any(bits_of(addend) & magnitude_bits)) return part + 1;
  }
  return expansion_parts + 1;
}

/// Adds levels of sums to expansions: each begins at the part that the one before it has left room
/// in.
static int add_columns(double* sums, std::size_t columns, int levels,
                       double* const (&parts)[expansion_parts]) {
  int used = 0;
  for (std::size_t c = 0; c < columns; c += vector_columns) {
    for (int level = 0; level < levels; ++level) {
      double* const from = sums + static_cast<std::size_t>(level) * column_tile + c;
      Doubles addend = load(from);
      const int behind = add_to_parts(addend, parts, level == 0 ? 0 : 1, c);
      used = behind > used ? behind : used;
      store(from, addend);
    }
  }
  return used;
}

template <class T>
static void column_extrema(const T* x, std::size_t rows, std::size_t stride, std::size_t columns,
                           T* __restrict minimum, T* __restrict maximum) {
  for (std::size_t r = 0; r < rows; ++r) {
    const T* __restrict row = x + r * stride;
    for (std::size_t c = 0; c < columns; ++c) {
      minimum[c] = row[c] < minimum[c] ? row[c] : minimum[c];
      maximum[c] = row[c] > maximum[c] ? row[c] : maximum[c];
    }
  }
}

template <class T>
static bool all_finite(const T* x, std::size_t rows, std::size_t stride, std::size_t columns) {
  using Layout = FloatLayout<T>;
  using Bits = typename Layout::Bits;
  Bits maximum = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const T* row = x + r * stride;
    for (std::size_t c = 0; c < columns; ++c) {
      const Bits size = __builtin_bit_cast(Bits, row[c]) & Layout::magnitude;
      maximum = size > maximum ? size : maximum;
    }
  }
  return maximum < Layout::infinity;
}

template <class T, bool magnitudes>
static inline auto addend_of(T x) {
  if constexpr (magnitudes)
    return magnitude_of(x);
  else
    return x;
}

/// Adds an integer's halves, or all of one that is shorter to `low`.
template <bool magnitudes, class T>
static inline void add_halves(T x, std::int64_t& low, std::int64_t& high) {
  const auto addend = addend_of<T, magnitudes>(x);
  if constexpr (sizeof(T) < sizeof(std::int64_t)) {
    low += static_cast<std::int64_t>(addend);
  } else {
    low += static_cast<std::int64_t>(static_cast<std::uint32_t>(addend));
    high += static_cast<std::int64_t>(addend >> 32);
  }
}

/// Returns the double of an integer of magnitude below 2^51.
static inline double small_integer(std::int64_t value) {
  constexpr double middle = 0x1.8p52;
  return __builtin_bit_cast(double, value + __builtin_bit_cast(std::int64_t, middle)) - middle;
}

template <class T, bool magnitudes>
static void integer_column_sums(const T* x, std::size_t rows, std::size_t stride,
                                std::size_t columns, double* __restrict sums) {
  constexpr bool in_halves = integer_levels<T> == 2;
  const std::size_t whole = (columns + width - 1) / width * width;
  std::int64_t low[column_tile];
  std::int64_t high[in_halves ? column_tile : 1];
  for (std::size_t c = 0; c < whole; ++c) low[c] = high[in_halves ? c : 0] = 0;
  std::size_t r = 0;
  for (; r + rows_at_a_time <= rows; r += rows_at_a_time) {
    const T* __restrict row = x + r * stride;
    for (std::size_t c = 0; c < columns; ++c) {
      std::int64_t halves[] = {low[c], high[in_halves ? c : 0]};
      for (std::size_t k = 0; k < rows_at_a_time; ++k)
        add_halves<magnitudes>(row[k * stride + c], halves[0], halves[1]);
      low[c] = halves[0];
      if constexpr (in_halves) high[c] = halves[1];
    }
  }
  for (; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      add_halves<magnitudes>(x[r * stride + c], low[c], high[in_halves ? c : 0]);
  for (std::size_t c = 0; c < whole; ++c) {
    sums[c] = small_integer(low[c]);
    if constexpr (in_halves) sums[column_tile + c] = 0x1p32 * small_integer(high[c]);
  }
}
