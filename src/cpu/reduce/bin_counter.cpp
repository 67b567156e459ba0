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

/// Returns the value whose ordered_key() is `key`, which may be one more than T's greatest.
template <class T>
Limit<T> limit_of(std::uint64_t key) {
  const std::uint64_t bits = bits_of_key(key, element_type_of<T>());
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<Limit<T>>(static_cast<std::int64_t>(bits));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<Limit<T>>(bits);
  else
    return std::bit_cast<double>(bits);
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
    const T value = static_cast<T>(limit);
    return dense_key(value < limit ? std::nextafter(value, std::numeric_limits<T>::infinity())
                                   : value);
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
  /// Takes the values whose ordered_key() is in `keys`, which rise, one or more.
  explicit BinLimits(std::span<const std::uint64_t> keys);

  /// Valid as long as this object.
  const BinTable<Limit<T>>& table() const { return table_; }

 private:
  /// Returns cells that each begin with a limit, if there are such.
  static std::optional<KeyCells> cells_between(std::span<const std::uint64_t> keys);

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
BinLimits<T>::BinLimits(std::span<const std::uint64_t> keys) {
  table_.count = static_cast<std::uint32_t>(keys.size());
  if (const std::optional<KeyCells> cells = cells_between(keys)) {
    table_.by_key = *cells;
    table_.starts_cells = true;
    return;
  }
  for (const std::uint64_t key : keys) limits_.push_back(limit_of<T>(key));
  table_.limits = limits_.data();
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
        counts_(regions_ * (regions_ <= max_copied ? copies : 1)) {}

  /// Changes the regions.
  void add(std::uint32_t* regions, std::size_t n) {
    counts_.size() > regions_ ? add_to_copies(regions, n) : add_inner(regions, n);
  }

  std::uint64_t operator[](std::size_t region) const {
    std::uint64_t count = 0;
    for (std::size_t place = region; place < counts_.size(); place += regions_)
      count += counts_[place];
    return count;
  }

 private:
  static constexpr std::size_t copies = 4;
  static constexpr std::size_t max_copied = 512;

  void add_to_copies(const std::uint32_t* regions, std::size_t n) {
    std::uint64_t* const counts = counts_.data();
    std::size_t i = 0;
    for (; i + copies <= n; i += copies)
      for (std::size_t copy = 0; copy < copies; ++copy)
        ++counts[copy * regions_ + regions[i + copy]];
    for (; i < n; ++i) ++counts[regions[i]];
  }

  void add_inner(std::uint32_t* regions, std::size_t n) {
    std::uint64_t* const counts = counts_.data();
    const OuterRegions outer = kernels_.drop_outer(regions, n, static_cast<std::uint32_t>(limits_));
    counts[0] += outer.below;
    counts[limits_] += outer.above;
    const std::size_t inner = n - outer.below - outer.above;
    for (std::size_t i = 0; i < inner; ++i) ++counts[regions[i]];
  }

  const Kernels& kernels_;
  std::size_t limits_;
  std::size_t regions_;
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
    const auto limits = std::make_shared<const BinLimits<typename Counter::T>>(bin_keys);
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
