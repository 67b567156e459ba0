#include "cpu/reduce/bin_counter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/chunks/decoded_blocks.hpp"

namespace warpfold::cpu {
namespace {

/// Returns the least T that is not less than `limit`.
template <class T>
T least_not_below(double limit) {
  const T value = static_cast<T>(limit);
  return value < limit ? std::nextafter(value, std::numeric_limits<T>::infinity()) : value;
}

/// Returns T's least value whose ordered_key() is `key` or more; the number itself where there is
/// no such value.
template <class T>
Limit<T> limit_of(std::uint64_t key) {
  const std::uint64_t bits = bits_of_key(key, element_type_of<T>());
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<Limit<T>>(static_cast<std::int64_t>(bits));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<Limit<T>>(bits);
  else
    return least_not_below<T>(std::bit_cast<double>(bits));
}

/// Returns the dense_key() of T's least value that is not less than `limit`, if any is.
template <class T>
std::optional<std::uint64_t> dense_key_from(Limit<T> limit) {
  if constexpr (std::is_same_v<T, Limit<T>>) {
    if (limit != limit) return std::nullopt;
    return dense_key(limit);
  } else if constexpr (std::is_integral_v<T>) {
    if (limit > static_cast<double>(std::numeric_limits<T>::max())) return std::nullopt;
    return dense_key(static_cast<T>(limit));
  } else {
    if (limit != limit) return std::nullopt;
    return dense_key(static_cast<T>(limit));
  }
}

/// Cells for each limit: few enough for a core's cache, where limits are, and so many that evenly
/// spaced limits have each a cell of their own.
constexpr std::size_t cells_a_limit = 4;

/// The limits between regions of T's values, and the cells by which they are found: of equal width
/// if these tell limits apart no worse than cells of equally many values.
template <class T>
class BinLimits {
 public:
  /// Takes the values whose ordered_key() is in `keys`, which rise, one or more, and what will find
  /// regions between them.
  BinLimits(std::span<const std::uint64_t> keys, FindRegions<T> find);

  /// Valid as long as this object.
  const BinTable<Limit<T>>& table() const { return table_; }

 private:
  /// Returns cells that each begin with a limit, if there are such.
  static std::optional<KeyCells> cells_between(std::span<const std::uint64_t> keys);

  /// Lays out places on a line and tells whether these tell regions apart.
  bool lay_out_places(FindRegions<T> find);

  /// Lays out the line from which limits are least far; tells whether it may go through all.
  bool lay_out_line();

  /// Returns the T before or after one, or what would be it.
  static double neighbour(double value, int direction) {
    if constexpr (std::is_integral_v<T>)
      return value + direction;
    else
      return std::nextafter(static_cast<T>(value), std::copysign(std::numeric_limits<T>::infinity(),
                                                                 static_cast<T>(direction)));
  }

  /// Returns a limit that `find` puts a value next to it on the wrong side of, if there is any.
  std::optional<std::uint32_t> misplaced(FindRegions<T> find) const;

  /// Lays out cells that each begin about where a limit is; tells whether there are such.
  bool lay_out_even_cells();

  void lay_out_cells(double cells);
  KeyCells cells_by_key() const;
  void count_limits();
  std::size_t cells() const;
  double place_of(Limit<T> limit) const {
    return (static_cast<double>(limit) - table_.origin) * table_.scale;
  }
  std::size_t cell_of(Limit<T> limit) const;

  std::vector<Limit<T>> limits_;
  std::vector<std::uint32_t> passed_;
  BinTable<Limit<T>> table_ = {};
};

template <class T>
BinLimits<T>::BinLimits(std::span<const std::uint64_t> keys, FindRegions<T> find) {
  table_.count = static_cast<std::uint32_t>(keys.size());
  if (const std::optional<KeyCells> cells = cells_between(keys)) {
    table_.by_key = *cells;
    table_.starts_cells = true;
    return;
  }
  for (const std::uint64_t key : keys) limits_.push_back(limit_of<T>(key));
  table_.limits = limits_.data();
  if constexpr (!std::is_same_v<T, Limit<T>>)
    if (lay_out_places(find)) return;
  if (lay_out_even_cells()) return;
  lay_out_cells(static_cast<double>(limits_.size() * cells_a_limit));
  count_limits();
  if (table_.max_in_cell > 1) {
    const std::uint32_t by_width = table_.max_in_cell;
    table_.by_key = cells_by_key();
    count_limits();
    if (table_.max_in_cell >= by_width) {
      table_.by_key = {};
      count_limits();
    }
  }
  table_.passed = passed_.data();
}

template <class T>
std::optional<KeyCells> BinLimits<T>::cells_between(std::span<const std::uint64_t> keys) {
  if (keys.size() < 2) return std::nullopt;
  const auto first = dense_key_from<T>(limit_of<T>(keys[0]));
  const auto second = dense_key_from<T>(limit_of<T>(keys[1]));
  if (!first || !second || !std::has_single_bit(*second - *first)) return std::nullopt;
  const int shift = std::countr_zero(*second - *first);
  for (std::uint64_t cell = 1; cell < keys.size(); ++cell)
    if (dense_key_from<T>(limit_of<T>(keys[cell])) != *first + (cell << shift)) return std::nullopt;
  return KeyCells{*first, static_cast<std::uint32_t>(shift),
                  static_cast<std::uint32_t>(keys.size())};
}

template <class T>
bool BinLimits<T>::lay_out_places(FindRegions<T> find) {
  if (!lay_out_line()) return false;
  table_.tells_places = true;
  if (const auto limit = misplaced(find)) {
    table_.pivot = *limit;
    table_.tells_places = !misplaced(find);
  }
  return table_.tells_places;
}

/// Each limit leaves the line a gap, from the value before it to itself, both as the kernel moves
/// them. How far the line may then be shifted is a concave function of its slope, the derivative of
/// which is the difference of two limits' indices.
template <class T>
bool BinLimits<T>::lay_out_line() {
  constexpr double moved = std::is_integral_v<T> ? 0 : 0.5;
  constexpr int steps = 24;
  const std::size_t last = limits_.size() - 1;
  if (last == 0 || !std::isfinite(limits_[0]) || !std::isfinite(limits_[last])) return false;
  std::vector<double> least;
  std::vector<double> most;
  for (const double limit : limits_) {
    least.push_back(std::lerp(neighbour(limit, -1), limit, moved));
    most.push_back(std::lerp(limit, neighbour(limit, 1), moved));
  }
  // The last bin has its upper edge as a value, so that its limit is the value after that.
  least[last] = neighbour(neighbour(limits_[last], -1), -1);
  const auto bins = static_cast<double>(last);
  const double rounding = 0x1p-48 * std::max(std::fabs(limits_[0]), std::fabs(limits_[last]));
  double flattest = (least[last] - most[0]) / bins;
  double steepest = (most[last] - least[0]) / bins;
  for (int step = 0; step < steps; ++step) {
    const double width = flattest + (steepest - flattest) / 2;
    const auto origin = [width](const std::vector<double>& places, std::size_t i) {
      return places[i] - static_cast<double>(i) * width;
    };
    std::size_t lower = 0;
    std::size_t upper = 0;
    for (std::size_t i = 1; i <= last; ++i) {
      if (origin(least, i) > origin(least, lower)) lower = i;
      if (origin(most, i) < origin(most, upper)) upper = i;
    }
    const double gap = origin(most, upper) - origin(least, lower);
    if (!(gap + (steepest - flattest) * bins > -rounding)) return false;
    table_.origin = origin(least, lower) + gap / 2 - width;
    table_.scale = 1 / width;
    if (lower == upper) break;
    (lower > upper ? flattest : steepest) = width;
  }
  return table_.scale > 0 && std::isfinite(table_.scale);
}

template <class T>
std::optional<std::uint32_t> BinLimits<T>::misplaced(FindRegions<T> find) const {
  const T least = std::numeric_limits<T>::lowest();
  std::vector<T> values;
  for (std::size_t i = 0; i + 1 < limits_.size(); ++i) {
    const T limit = static_cast<T>(limits_[i]);
    values.push_back(limit == least ? limit : static_cast<T>(neighbour(limits_[i], -1)));
    values.push_back(limit);
  }
  std::vector<std::uint32_t> regions(values.size());
  find(values.data(), values.size(), table_, regions.data());
  for (std::uint32_t i = values[0] == least ? 1 : 0; i < regions.size(); ++i)
    if (regions[i] != (i + 1) / 2) return i / 2;
  return std::nullopt;
}

template <class T>
bool BinLimits<T>::lay_out_even_cells() {
  lay_out_cells(static_cast<double>(limits_.size() - 1));
  double tolerance = 0;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    const double off = place_of(limits_[i]) - static_cast<double>(i);
    if (!(std::fabs(off) <= max_tolerance)) return false;
    tolerance = std::max(tolerance, std::fabs(off));
  }
  table_.tolerance = tolerance;
  return table_.starts_even_cells = table_.scale > 0;
}

template <class T>
void BinLimits<T>::lay_out_cells(double cells) {
  table_.origin = table_.scale = table_.last_cell = 0;
  const auto finite = [](Limit<T> limit) { return std::isfinite(static_cast<double>(limit)); };
  const auto first = std::find_if(limits_.begin(), limits_.end(), finite);
  const auto last = std::find_if(limits_.rbegin(), limits_.rend(), finite);
  if (first == limits_.end()) return;
  table_.origin = static_cast<double>(*first);
  const double scale = cells / (static_cast<double>(*last) - table_.origin);
  if (!(scale > 0) || !std::isfinite(scale)) return;
  table_.scale = scale;
  table_.last_cell = cells;
}

template <class T>
KeyCells BinLimits<T>::cells_by_key() const {
  const std::uint64_t first = dense_key_from<T>(limits_.front()).value_or(0);
  const auto end = dense_key_from<T>(limits_.back());
  // The last limit may lie after the last value, where no value reaches it.
  const std::uint64_t last =
      end ? *end : dense_key_from<T>(limits_[limits_.size() - 2]).value_or(0);
  const auto shift =
      static_cast<std::uint32_t>(std::bit_width((last - first) / (limits_.size() * cells_a_limit)));
  return {first, shift, static_cast<std::uint32_t>(((last - first) >> shift) + 1)};
}

template <class T>
std::size_t BinLimits<T>::cells() const {
  return table_.by_key.count > 0 ? table_.by_key.count
                                 : static_cast<std::size_t>(table_.last_cell) + 1;
}

/// As the kernels do it; but NaN is the limit behind infinity, which nothing reaches.
template <class T>
std::size_t BinLimits<T>::cell_of(Limit<T> limit) const {
  if (table_.by_key.count > 0) {
    const auto key = dense_key_from<T>(limit);
    return key ? (*key - table_.by_key.first) >> table_.by_key.shift : table_.by_key.count - 1;
  }
  const double place = place_of(limit);
  return static_cast<std::size_t>(place < table_.last_cell ? std::max(place, 0.0)
                                                           : table_.last_cell);
}

template <class T>
void BinLimits<T>::count_limits() {
  passed_.assign(cells() + 1, 0);
  for (const Limit<T> limit : limits_) ++passed_[cell_of(limit) + 1];
  table_.max_in_cell = *std::max_element(passed_.begin(), passed_.end());
  for (std::size_t cell = 1; cell < passed_.size(); ++cell) passed_[cell] += passed_[cell - 1];
}

/// Counts of regions. An element needs not wait for the one before it that fell into the same one:
/// there are several copies where they fit a core's cache, and otherwise elements below and above
/// all limits, which most may be, are counted apart.
class RegionCounts {
 public:
  RegionCounts(const Kernels& kernels, std::size_t limits)
      : kernels_(kernels),
        limits_(limits),
        regions_(limits + 2),
        recent_(regions_ * (regions_ <= max_copied ? copies : 1)),
        counts_(regions_) {}

  /// Changes the regions.
  void add(std::uint32_t* regions, std::size_t n) {
    if (n > room_) settle();
    room_ -= static_cast<std::uint32_t>(n);
    recent_.size() > regions_ ? add_to_copies(regions, n) : add_inner(regions, n);
  }

  std::uint64_t operator[](std::size_t region) const {
    std::uint64_t count = counts_[region];
    for (std::size_t place = region; place < recent_.size(); place += regions_)
      count += recent_[place];
    return count;
  }

 private:
  static constexpr std::size_t copies = 8;
  static constexpr std::size_t max_copied = 1024;

  void add_to_copies(const std::uint32_t* regions, std::size_t n) {
    std::uint32_t* const recent = recent_.data();
    std::size_t i = 0;
    for (; i + copies <= n; i += copies)
      for (std::size_t copy = 0; copy < copies; ++copy)
        ++recent[copy * regions_ + regions[i + copy]];
    for (; i < n; ++i) ++recent[regions[i]];
  }

  void add_inner(std::uint32_t* regions, std::size_t n) {
    std::uint32_t* const recent = recent_.data();
    const OuterRegions outer = kernels_.drop_outer(regions, n, static_cast<std::uint32_t>(limits_));
    counts_[0] += outer.below;
    counts_[limits_] += outer.above;
    const std::size_t inner = n - outer.below - outer.above;
    for (std::size_t i = 0; i < inner; ++i) ++recent[regions[i]];
  }

  void settle() {
    for (std::size_t region = 0; region < regions_; ++region) counts_[region] = (*this)[region];
    std::ranges::fill(recent_, 0);
    room_ = std::numeric_limits<std::uint32_t>::max();
  }

  const Kernels& kernels_;
  std::size_t limits_;
  std::size_t regions_;
  std::uint32_t room_ = std::numeric_limits<std::uint32_t>::max();  ///< elements until settle()
  std::vector<std::uint32_t> recent_;  ///< since settle(): small, so that a cache holds them
  std::vector<std::uint64_t> counts_;
};

template <class Stored>
class TypedBinCounter final : public BinCounter {
 public:
  using T = Decoded<Stored>;

  TypedBinCounter(const Kernels& kernels, ByteOrder order,
                  std::shared_ptr<const BinLimits<T>> limits)
      : decoder_(kernels, order),
        find_(kernels_of<T>(kernels).find_regions),
        limits_(std::move(limits)),
        counts_(kernels, limits_->table().count) {}

  void reduce(const std::byte* elements, std::uint64_t n, const ElementIndices&) override {
    for (std::uint64_t first = 0; first < n; first += step) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(step, n - first));
      const T* x = decoder_.decode(elements + first * sizeof(Stored), size);
      find_(x, size, limits_->table(), regions_);
      counts_.add(regions_, size);
    }
  }

  HistogramCounts counts() const override {
    const std::size_t limits = limits_->table().count;
    HistogramCounts result;
    result.below = counts_[0];
    result.bins.reserve(limits - 1);
    for (std::size_t region = 1; region < limits; ++region) result.bins.push_back(counts_[region]);
    result.above = counts_[limits];
    result.nan = counts_[limits + 1];
    return result;
  }

 private:
  /// So that regions stay in the first-level cache until they are counted.
  static constexpr std::size_t step = 2048;

  BlockDecoder<Stored> decoder_;
  FindRegions<T> find_;
  std::shared_ptr<const BinLimits<T>> limits_;
  RegionCounts counts_;
  alignas(64) std::uint32_t regions_[step];
};

class DecodingCounter final : public DecodingSink<BinCounter> {
 public:
  using DecodingSink::DecodingSink;

  HistogramCounts counts() const override { return values().counts(); }
};

MakeBinCounter counters_of_values(const Kernels& kernels, ElementFormat format,
                                  std::span<const std::uint64_t> bin_keys) {
  return visit_element_type(format.type, [&](auto element) -> MakeBinCounter {
    using Counter = TypedBinCounter<decltype(element)>;
    const auto limits = std::make_shared<const BinLimits<typename Counter::T>>(
        bin_keys, kernels_of<typename Counter::T>(kernels).find_regions);
    return [&kernels, order = format.order, limits] {
      return std::make_unique<Counter>(kernels, order, limits);
    };
  });
}

}  // namespace

MakeBinCounter bin_counters(const Kernels& kernels, ElementFormat format,
                            std::span<const std::uint64_t> bin_keys, const Decoding& decoding) {
  if (decoding.trivial()) return counters_of_values(kernels, format, bin_keys);
  const ElementFormat values{decoding.value_type(format.type), native_byte_order};
  return [&kernels, format, decoding, make = counters_of_values(kernels, values, bin_keys)] {
    return std::make_unique<DecodingCounter>(kernels, format, decoding, make());
  };
}

}  // namespace warpfold::cpu
