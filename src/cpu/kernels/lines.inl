/// Lines of consecutive elements: sums run along vectors, and then, turned over, over their
/// elements.

/// Returns {a[0], b[0], a[1], b[1], ...} of the halves of two vectors that begin at element
/// `first`.
template <std::size_t first, std::size_t... pair>
static inline Doubles riffled(Doubles a, Doubles b, std::index_sequence<pair...>) {
  return __builtin_shufflevector(a, b, (first + pair / 2 + pair % 2 * vector_columns)...);
}

/// Turns a square of vectors over: each round rotates the bits of (vector, element) by one.
static inline void turn_over(Doubles (&square)[width]) {
  constexpr std::size_t half = vector_columns / 2;
  constexpr auto every_pair = std::make_index_sequence<vector_columns>();
  for (std::size_t round = 1; round < vector_columns; round *= 2) {
    Doubles before[width];
    for (std::size_t i = 0; i < vector_columns; ++i) before[i] = square[i];
    for (std::size_t i = 0; i < half; ++i) {
      square[2 * i] = riffled<0>(before[i], before[i + half], every_pair);
      square[2 * i + 1] = riffled<half>(before[i], before[i + half], every_pair);
    }
  }
}

/// Adds lines; returns bits that are set where a sum is not exact.
template <class Rows, std::size_t levels, std::size_t lines>
static inline Integers add_lines(Doubles (&sum)[lines][levels], const Rows& matrix, std::size_t n) {
  Integers left = {};
  std::size_t i = 0;
  for (; i + vector_columns <= n; i += vector_columns)
    for (std::size_t k = 0; k < lines; ++k) left |= Rows::add(sum[k], matrix.take(k, i));
  if (i < n)
    for (std::size_t k = 0; k < lines; ++k) left |= Rows::add(sum[k], matrix.take(k, i, n));
  return left;
}

/// Adds as many lines by turning the elements over instead of their sums: a line to each element of
/// the total.
template <class Rows, std::size_t levels>
static inline Integers add_turned(Doubles (&total)[levels], const Rows& matrix, std::size_t n) {
  Integers left = {};
  for (std::size_t i = 0; i < n; i += vector_columns) {
    Doubles square[width];
    for (std::size_t k = 0; k < vector_columns; ++k) square[k] = matrix.take(k, i, n);
    turn_over(square);
    const std::size_t some = n - i < vector_columns ? n - i : vector_columns;
    for (std::size_t k = 0; k < some; ++k) left |= Rows::add(total, square[k]);
  }
  return left;
}

/// Elements of a line up to which turning them over costs less than the sums of all vectors do.
template <std::size_t levels>
constexpr std::size_t short_line = levels == 1 ? 0 : 6 * vector_columns;

/// Adds the elements of each line's sum to an element of the total.
template <std::size_t levels>
static inline Integers add_across(Doubles (&total)[levels], const Doubles (&sum)[width][levels]) {
  Integers left = {};
  for (std::size_t l = 0; l < levels; ++l) {
    Doubles square[width];
    for (std::size_t k = 0; k < vector_columns; ++k) square[k] = sum[k][l];
    turn_over(square);
    for (const Doubles& each : square) left |= add_exactly(total, each);
  }
  return left;
}

/// Adds as many lines as a vector has elements, one to each.
template <class Rows, std::size_t levels>
static inline Integers add_vector_of_lines(Doubles (&total)[levels], const Rows& matrix,
                                           std::size_t n) {
  if constexpr (std::is_same_v<typename Rows::Taken, Doubles>)
    if (n < short_line<levels>) return add_turned(total, matrix, n);
  Doubles sum[width][levels] = {};
  const Integers left = add_lines(sum, matrix, n);
  return left | add_across(total, sum);
}

/// Adds fewer lines, one to each element from the first on.
template <class Rows, std::size_t levels>
static inline Integers add_few_lines(Doubles (&total)[levels], const Rows& matrix,
                                     std::size_t lines, std::size_t n) {
  Doubles sum[width][levels] = {};
  Integers left = {};
  for (std::size_t k = 0; k < lines; ++k) {
    Doubles single[1][levels] = {};
    left |= add_lines(single, matrix.below(k), n);
    for (std::size_t l = 0; l < levels; ++l) sum[k][l] = single[0][l];
  }
  return left | add_across(total, sum);
}

template <std::size_t levels, class Rows>
static inline bool sum_lines(const Rows& matrix, std::size_t lines, std::size_t n, double* sums) {
  Integers left = {};
  for (std::size_t first = 0; first < lines; first += vector_columns) {
    Doubles total[levels] = {};
    if (first + vector_columns <= lines)
      left |= add_vector_of_lines(total, matrix.below(first), n);
    else
      left |= add_few_lines(total, matrix.below(first), lines - first, n);
    left |= beyond_addends(total[0]);
    for (std::size_t l = 0; l < levels; ++l) store(sums + l * column_tile + first, total[l]);
  }
  return !any(left);
}

template <class T, Term term, std::size_t levels>
static bool line_sums(const T* x, std::size_t lines, std::size_t stride, std::size_t n,
                      double* sums) {
  return sum_lines<levels>(ElementRows<T, term>{x, stride}, lines, n, sums);
}
