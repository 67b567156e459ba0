/// Elements in their order.

template <class T>
static std::size_t count_below(const T* x, std::size_t n, T bound) {
  // Largest count that a counter as wide as the elements can hold.
  constexpr std::size_t most =
      sizeof(T) < 4 ? (std::size_t{1} << 8 * sizeof(T)) - 1 : std::size_t{1} << 31;
  using Counter = std::make_unsigned_t<T>;
  std::size_t below = 0;
  for (std::size_t first = 0; first < n; first += most) {
    const std::size_t end = n - first < most ? n : first + most;
    Counter count = 0;
    for (std::size_t i = first; i < end; ++i)
      count = static_cast<Counter>(count + (x[i] < bound ? 1 : 0));
    below += count;
  }
  return below;
}

template <class T>
static T least_from(const T* x, std::size_t n, T bound) {
  constexpr T greatest = static_cast<T>(-1) < T{0} ? static_cast<T>(~(T{1} << (8 * sizeof(T) - 1)))
                                                   : static_cast<T>(~T{0});
  T least = greatest;
  for (std::size_t i = 0; i < n; ++i) {
    // The bits choose: of a choice by ?: the compiler makes no vectors.
    const T below = static_cast<T>(-static_cast<T>(x[i] < bound ? 1 : 0));
    const T raised = static_cast<T>((x[i] & ~below) | (greatest & below));
    least = raised < least ? raised : least;
  }
  return least;
}
