/// A tile's prefixes, in the order that scan_arithmetic.hpp fixes, all lanes of a row at once.

constexpr int row_vectors = scan_order::tile_lanes / width;

struct DoublePairs {
  Doubles high;
  Doubles low;
};

static inline DoublePairs two_sum_vectors(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  const Doubles b_part = sum - a;
  const Doubles a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

static inline DoublePairs fast_two_sum_vectors(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  return {sum, b - (sum - a)};
}

static inline DoublePairs add_vectors(DoublePairs a, Doubles b) {
  const DoublePairs sum = two_sum_vectors(a.high, b);
  return fast_two_sum_vectors(sum.high, a.low + sum.low);
}

static inline DoublePairs add_vectors(DoublePairs a, DoublePairs b) {
  const DoublePairs high = two_sum_vectors(a.high, b.high);
  const DoublePairs low = two_sum_vectors(a.low, b.low);
  const DoublePairs carried = fast_two_sum_vectors(high.high, high.low + low.high);
  return fast_two_sum_vectors(carried.high, low.low + carried.low);
}

static inline Doubles add_vectors(Doubles a, Doubles b) { return a + b; }

static inline void set_vector(DoublePairs& vector, Doubles x) { vector = {x, Doubles{}}; }
static inline void set_vector(Doubles& vector, Doubles x) { vector = x; }

static inline Doubles keep_below(int distance, int first_lane, Doubles old, Doubles fresh) {
  Integers lane;
  for (int i = 0; i < width; ++i) lane[i] = first_lane + i;
  const Integers kept = lane < distance;
  return from_bits((bits_of(old) & kept) | (bits_of(fresh) & ~kept));
}

static inline DoublePairs keep_below(int distance, int first_lane, DoublePairs old,
                                     DoublePairs fresh) {
  return {keep_below(distance, first_lane, old.high, fresh.high),
          keep_below(distance, first_lane, old.low, fresh.low)};
}

/// A row's lanes in memory, after as many zeros, so that lanes can be read shifted.
template <class Inner>
struct RowLanes;

template <>
struct RowLanes<Doubles> {
  double value[2 * scan_order::tile_lanes] = {};

  inline Doubles at(int lane) const { return load(value + scan_order::tile_lanes + lane); }
  inline void put(int lane, Doubles x) { store(value + scan_order::tile_lanes + lane, x); }
  inline Doubles last() const { return broadcast(value[2 * scan_order::tile_lanes - 1]); }
};

template <>
struct RowLanes<DoublePairs> {
  RowLanes<Doubles> high;
  RowLanes<Doubles> low;

  inline DoublePairs at(int lane) const { return {high.at(lane), low.at(lane)}; }
  inline void put(int lane, DoublePairs x) {
    high.put(lane, x.high);
    low.put(lane, x.low);
  }
  inline DoublePairs last() const { return {high.last(), low.last()}; }
};

template <class Inner>
static inline void kogge_stone(RowLanes<Inner>& row) {
  for (int distance = 1; distance < scan_order::tile_lanes; distance *= 2) {
    Inner fresh[row_vectors];
    for (int v = 0; v < row_vectors; ++v) {
      const int lane = v * width;
      const Inner old = row.at(lane);
      fresh[v] = keep_below(distance, lane, old, add_vectors(row.at(lane - distance), old));
    }
    for (int v = 0; v < row_vectors; ++v) row.put(v * width, fresh[v]);
  }
}

/// The sums before a row: what scan_order::lane_base and rounded_prefix make of them.
template <class Inner>
struct RowBase;

template <>
struct RowBase<DoublePairs> {
  DoublePairs before_lanes;

  inline RowBase(DoublePairs base, DoublePairs segment, DoublePairs row)
      : before_lanes(add_vectors(add_vectors(base, segment), row)) {}
  inline DoublePairs of(DoublePairs lane) const { return add_vectors(before_lanes, lane); }
  inline Doubles prefix(DoublePairs lane_base, DoublePairs inner) const {
    return add_vectors(lane_base, inner).high;
  }
};

template <>
struct RowBase<Doubles> {
  DoublePairs base;
  Doubles offset;

  inline RowBase(DoublePairs tile_base, Doubles segment, Doubles row)
      : base(tile_base), offset(segment + row) {}
  inline Doubles of(Doubles lane) const { return offset + lane; }
  inline Doubles prefix(Doubles lane_base, Doubles inner) const {
    const DoublePairs sum = two_sum_vectors(base.high, lane_base + inner);
    return sum.high + (sum.low + base.low);
  }
};

using RowColumns = double[scan_order::lane_elements][scan_order::tile_lanes];

/// Column k gets each lane's element k, scaled.
template <class T>
static inline void transpose_row(const T* row, double down, RowColumns& columns) {
  for (int lane = 0; lane < scan_order::tile_lanes; ++lane)
    for (int k = 0; k < scan_order::lane_elements; ++k)
      columns[k][lane] = static_cast<double>(row[lane * scan_order::lane_elements + k]) * down;
}

static inline void put_row(const RowColumns& columns, double* row) {
  for (int lane = 0; lane < scan_order::tile_lanes; ++lane)
    for (int k = 0; k < scan_order::lane_elements; ++k)
      row[lane * scan_order::lane_elements + k] = columns[k][lane];
}

/// Each lane's own prefixes, and in `row` their last ones.
template <class Inner>
static inline void lane_prefixes(const RowColumns& columns,
                                 Inner (&inner)[scan_order::lane_elements][row_vectors],
                                 RowLanes<Inner>& row) {
  for (int v = 0; v < row_vectors; ++v) {
    set_vector(inner[0][v], load(columns[0] + v * width));
    for (int k = 1; k < scan_order::lane_elements; ++k)
      inner[k][v] = add_vectors(inner[k - 1][v], load(columns[k] + v * width));
    row.put(v * width, inner[scan_order::lane_elements - 1][v]);
  }
}

template <class Inner, class T>
static void scan_tile(const T* tile, double down, DoublePair base, bool exclusive,
                      double* prefixes) {
  const DoublePairs tile_base = {broadcast(base.high), broadcast(base.low)};
  Inner segment_sum = {};
  for (int segment = 0; segment < scan_order::tile_segments; ++segment) {
    Inner row_sum = {};
    for (int r = 0; r < scan_order::tile_rows; ++r) {
      const int first = (segment * scan_order::tile_rows + r) * scan_order::row_elements;
      RowColumns columns;
      transpose_row(tile + first, down, columns);
      Inner inner[scan_order::lane_elements][row_vectors];
      RowLanes<Inner> row;
      lane_prefixes(columns, inner, row);
      kogge_stone(row);
      const RowBase<Inner> row_base(tile_base, segment_sum, row_sum);
      for (int v = 0; v < row_vectors; ++v) {
        const Inner lane_base = row_base.of(row.at(v * width - 1));
        for (int k = 0; k < scan_order::lane_elements; ++k) {
          Inner seen = {};
          if (!exclusive) seen = inner[k][v];
          if (exclusive && k > 0) seen = inner[k - 1][v];
          store(columns[k] + v * width, row_base.prefix(lane_base, seen));
        }
      }
      put_row(columns, prefixes + first);
      row_sum = add_vectors(row_sum, row.last());
    }
    segment_sum = add_vectors(segment_sum, row_sum);
  }
}
