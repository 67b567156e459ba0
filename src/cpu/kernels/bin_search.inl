/// Regions between limits: how many of a BinTable's limits an element is not less than.

static inline double cell_of(double value, double origin, double scale, double last) {
  const double place = (value - origin) * scale;
  // NaN, which also comes of infinities, goes to the first cell.
  const double bounded = place > 0 ? place : 0;
  return bounded < last ? bounded : last;
}

/// With at most one limit in any cell.
template <class T>
static void find_regions_by_cell(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                                 std::uint32_t* regions) {
  const auto [origin, scale, last, limits, passed, count, maximum] = table;
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<Limit<T>>(x[i]);
    const double cell = cell_of(static_cast<double>(value), origin, scale, last);
    const std::uint32_t lower = passed[static_cast<std::int32_t>(cell)];
    const std::uint32_t next = lower < count ? lower : count - 1;
    const std::uint32_t region = next + (value >= limits[next] ? 1 : 0);
    regions[i] = value == value ? region : count + 1;
  }
}

template <class T>
static void find_regions_by_halves(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                                   std::uint32_t* regions) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<Limit<T>>(x[i]);
    const auto cell = static_cast<std::int32_t>(
        cell_of(static_cast<double>(value), table.origin, table.scale, table.last_cell));
    std::uint32_t region = table.passed[cell];
    std::uint32_t rest = table.passed[cell + 1] - region;
    while (rest > 0) {
      const std::uint32_t half = rest / 2;
      const bool passes = value >= table.limits[region + half];
      region += passes ? half + 1 : 0;
      rest = passes ? rest - half - 1 : half;
    }
    regions[i] = value == value ? region : table.count + 1;
  }
}

template <class T>
static void find_regions(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                         std::uint32_t* regions) {
  if (table.max_in_cell <= 1)
    find_regions_by_cell(x, n, table, regions);
  else
    find_regions_by_halves(x, n, table, regions);
}
