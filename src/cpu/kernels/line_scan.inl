/// Running sums of lines side by side, each in two doubles.

template <bool to_odd, bool exclusive, class T>
static std::size_t add_to_lines_as(const T* x, std::size_t n, LinePairs lines, double* prefixes) {
  std::size_t i = 0;
  for (; i + vector_columns <= n; i += vector_columns) {
    const DoublePairs before = {load(lines.high + i), load(lines.low + i)};
    const Doubles addend = load(x + i);
    const DoublePairs upper = two_sum_vectors(before.high, addend);
    const DoublePairs lower = two_sum_vectors(before.low, upper.low);
    const DoublePairs sum = two_sum_vectors(upper.high, lower.high);
    // NaN and infinities give NaN, which is not 0.
    if (any((lower.low != 0.0) | (magnitude(addend) > broadcast(largest_addend)))) break;
    store(lines.high + i, sum.high);
    store(lines.low + i, sum.low);
    const DoublePairs prefix = exclusive ? before : sum;
    store(prefixes + i, to_odd ? sum_to_odd(prefix.high, prefix.low) : prefix.high);
  }
  return i;
}

template <class T>
static std::size_t add_to_lines(const T* x, std::size_t n, LinePairs lines, bool exclusive,
                                bool to_odd, double* prefixes) {
  if (to_odd)
    return exclusive ? add_to_lines_as<true, true>(x, n, lines, prefixes)
                     : add_to_lines_as<true, false>(x, n, lines, prefixes);
  return exclusive ? add_to_lines_as<false, true>(x, n, lines, prefixes)
                   : add_to_lines_as<false, false>(x, n, lines, prefixes);
}
