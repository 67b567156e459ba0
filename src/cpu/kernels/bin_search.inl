/// Regions between limits: how many of a BinTable's limits an element is not less than.

template <class T>
struct CellsByValue {
  double origin;
  double scale;
  double last;

  explicit CellsByValue(const BinTable<Limit<T>>& table)
      : origin(table.origin), scale(table.scale), last(table.last_cell) {}

  std::uint32_t operator()(T x) const {
    const double place = (static_cast<double>(static_cast<Limit<T>>(x)) - origin) * scale;
    // NaN, which also comes of infinities, goes to the first cell.
    const double bounded = place > 0 ? place : 0;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(bounded < last ? bounded : last));
  }
};

/// As dense_key() has it.
template <class T>
static inline Word<T> key_of(T x) {
  constexpr auto sign = static_cast<Word<T>>(Word<T>{1} << (8 * sizeof(T) - 1));
  const auto bits = __builtin_bit_cast(Word<T>, x);
  if constexpr (std::is_floating_point_v<T>) {
    const Word<T> magnitude = bits & ~sign;
    return (bits & sign) != 0 ? sign - magnitude : sign + magnitude;
  } else {
    return std::is_signed_v<T> ? bits ^ sign : bits;
  }
}

template <class T>
struct CellsByKey {
  Word<T> first;
  std::uint32_t shift;
  Word<T> last;

  explicit CellsByKey(const BinTable<Limit<T>>& table)
      : first(static_cast<Word<T>>(table.by_key.first)),
        shift(table.by_key.shift),
        last(static_cast<Word<T>>(table.by_key.count - 1)) {}

  std::uint32_t operator()(T x) const {
    const Word<T> key = key_of(x);
    const auto cell = static_cast<Word<T>>(static_cast<Word<T>>(key - first) >> shift);
    const Word<T> bounded = cell < last ? cell : last;
    return key < first ? 0 : static_cast<std::uint32_t>(bounded);
  }
};

/// With a limit at the first value of each cell, and none elsewhere.
template <class T>
static void find_regions_at_cells(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                                  std::uint32_t* regions) {
  const CellsByKey<T> cell_of(table);
  const std::uint32_t nan = table.count + 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t passed = key_of(x[i]) < cell_of.first ? 0 : 1;
    const std::uint32_t region = cell_of(x[i]) + passed;
    regions[i] = x[i] == x[i] ? region : nan;
  }
}

/// Two to the exponent of `x`, times half of its type's epsilon: no more than half of what the next
/// value is apart.
static inline float half_step(float x) {
  constexpr float half_epsilon = 0x1p-24f;
  constexpr std::uint32_t exponent = 0x7f800000;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & exponent) * half_epsilon;
}

/// With limits between which places on a line tell: these never fall where elements rise, so that
/// they are right everywhere if they are on both sides of each limit. A float is taken half a step
/// up, because an even limit was rounded to a float by no more than that.
template <class T>
static void find_regions_by_place(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                                  std::uint32_t* regions) {
  using Value = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>, float, double>;
  using Place = std::conditional_t<sizeof(T) <= 2, float, double>;
  const auto lowest = static_cast<Value>(table.origin + 0.5 / table.scale);
  const auto highest = static_cast<Value>(table.limits[table.count - 2]);
  const auto pivot = static_cast<Value>(table.limits[table.pivot]);
  const auto above = static_cast<Value>(table.limits[table.count - 1]);
  const auto origin = static_cast<Place>(table.origin);
  const auto scale = static_cast<Place>(table.scale);
  const auto below_pivot = static_cast<std::int32_t>(table.pivot);
  const auto nan = static_cast<std::int32_t>(table.count + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<Value>(x[i]);
    const Value falling = value < highest ? value : highest;
    const Value bounded = falling > lowest ? falling : lowest;
    Place moved = bounded;
    if constexpr (std::is_same_v<T, float>) moved += static_cast<Place>(half_step(bounded));
    const auto place = static_cast<std::int32_t>((moved - origin) * scale);
    const std::int32_t least = place > below_pivot ? place : below_pivot + 1;
    const std::int32_t most = place < below_pivot ? place : below_pivot;
    const std::int32_t inner = value >= pivot ? least : most;
    const std::int32_t region = inner + (value >= above ? 1 : 0);
    regions[i] = static_cast<std::uint32_t>(value == value ? region : nan);
  }
}

/// With limits that are evenly spaced but for rounding.
template <class T>
class EvenCells {
 public:
  explicit EvenCells(const BinTable<Limit<T>>& table)
      : limits_(table.limits),
        origin_(table.origin),
        scale_(table.scale),
        above_(table.last_cell + outside),
        tolerance_(table.tolerance),
        nan_(table.count + 1) {}

  /// Finds the region of an element that is near no limit; otherwise sets `near`.
  std::uint32_t region(T x, std::int32_t& near) const {
    const double place = place_of(x);
    const std::int32_t limit = nearest(place);
    const double beyond = place - static_cast<double>(limit);
    near |= __builtin_fabs(beyond) <= tolerance_ ? 1 : 0;
    return unless_nan(x, static_cast<std::uint32_t>(limit) + (beyond > 0 ? 1 : 0));
  }

  std::uint32_t compared_region(T x) const {
    const std::int32_t limit = nearest(place_of(x));
    const bool passes = static_cast<Limit<T>>(x) >= limits_[limit];
    return unless_nan(x, static_cast<std::uint32_t>(limit) + (passes ? 1 : 0));
  }

 private:
  static constexpr double outside = 2 * max_tolerance;

  double place_of(T x) const {
    const double place = (static_cast<double>(static_cast<Limit<T>>(x)) - origin_) * scale_;
    const double bounded = place > -outside ? place : -outside;
    return bounded < above_ ? bounded : above_;
  }

  static std::int32_t nearest(double place) {
    const double half_beyond = place + 0.5;
    return static_cast<std::int32_t>(half_beyond);
  }
  std::uint32_t unless_nan(T x, std::uint32_t region) const { return x == x ? region : nan_; }

  const Limit<T>* limits_;
  double origin_;
  double scale_;
  double above_;
  double tolerance_;
  std::uint32_t nan_;
};

template <class T>
static void find_regions_at_even_cells(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                                       std::uint32_t* regions) {
  constexpr std::size_t group = 16;
  const EvenCells<T> cells(table);
  std::size_t i = 0;
  for (; i + group <= n; i += group) {
    std::int32_t near = 0;
    for (std::size_t j = i; j < i + group; ++j) regions[j] = cells.region(x[j], near);
    if (near == 0) continue;
    for (std::size_t j = i; j < i + group; ++j) regions[j] = cells.compared_region(x[j]);
  }
  for (; i < n; ++i) regions[i] = cells.compared_region(x[i]);
}

/// With any limits, by halves from the first in a cell: none in later cells is passed.
template <class T, class Cells>
static void find_regions_in(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                            std::uint32_t* regions) {
  constexpr std::size_t group = 64;
  const Cells cell_of(table);
  const Limit<T>* const limits = table.limits;
  const std::uint32_t* const passed = table.passed;
  const std::uint32_t count = table.count;
  std::uint32_t found[group] = {};
  std::uint32_t cells[group] = {};
  for (std::size_t first = 0; first < n; first += group, x += group, regions += group) {
    const std::size_t size = n - first < group ? n - first : group;
    std::uint32_t rests = 1;
    for (std::size_t i = 0; i < size; ++i) {
      cells[i] = cell_of(x[i]);
      found[i] = passed[cells[i]];
    }
    if (table.max_in_cell > 1)
      for (std::size_t i = 0; i < size; ++i) rests |= passed[cells[i] + 1] - found[i];
    for (std::uint32_t half = 1U << (31 - __builtin_clz(rests)); half > 0; half /= 2)
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t next = found[i] + half;
        const std::uint32_t limit = (next < count ? next : count) - 1;
        const bool passes = (next <= count) & (static_cast<Limit<T>>(x[i]) >= limits[limit]);
        found[i] = passes ? next : found[i];
      }
    for (std::size_t i = 0; i < size; ++i) regions[i] = x[i] == x[i] ? found[i] : count + 1;
  }
}

template <class T>
static void find_regions(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                         std::uint32_t* regions) {
  if constexpr (!std::is_same_v<T, Limit<T>>)
    if (table.tells_places) return find_regions_by_place(x, n, table, regions);
  if (table.starts_cells)
    find_regions_at_cells(x, n, table, regions);
  else if (table.starts_even_cells)
    find_regions_at_even_cells(x, n, table, regions);
  else if (table.by_key.count > 0)
    find_regions_in<T, CellsByKey<T>>(x, n, table, regions);
  else
    find_regions_in<T, CellsByValue<T>>(x, n, table, regions);
}

static OuterRegions drop_outer(std::uint32_t* regions, std::size_t n, std::uint32_t last) {
  std::size_t below = 0;
  std::size_t inner = 0;
  std::size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m512i sixteen = _mm512_loadu_si512(regions + i);
    const __mmask16 first = _mm512_testn_epi32_mask(sixteen, sixteen);
    const __mmask16 above =
        _mm512_cmpeq_epi32_mask(sixteen, _mm512_set1_epi32(static_cast<int>(last)));
    const auto kept = static_cast<__mmask16>(~(first | above));
    _mm512_storeu_si512(regions + inner, _mm512_maskz_compress_epi32(kept, sixteen));
    inner += static_cast<std::size_t>(__builtin_popcount(kept));
    below += static_cast<std::size_t>(__builtin_popcount(first));
  }
#endif
  for (; i < n; ++i) {
    const std::uint32_t region = regions[i];
    regions[inner] = region;
    inner += region != 0 && region != last ? 1 : 0;
    below += region == 0 ? 1 : 0;
  }
  return {below, n - inner - below};
}
