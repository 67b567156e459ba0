#include "cpu/reduce/bin_counter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
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

/// Cells for each limit: few enough for a core's cache, where limits are, and so many that evenly
/// spaced limits have each a cell of their own.
constexpr std::size_t cells_a_limit = 4;

/// The limits between regions of T's values, and the cells by which they are found.
template <class T>
class BinLimits {
 public:
  /// Takes the values whose ordered_key() is in `keys`, which rise, one or more.
  explicit BinLimits(std::span<const std::uint64_t> keys);

  /// Valid as long as this object.
  const BinTable<Limit<T>>& table() const { return table_; }

 private:
  void lay_out_cells();
  void count_limits();

  std::vector<Limit<T>> limits_;
  std::vector<std::uint32_t> passed_;
  BinTable<Limit<T>> table_ = {};
};

template <class T>
BinLimits<T>::BinLimits(std::span<const std::uint64_t> keys) {
  for (const std::uint64_t key : keys) limits_.push_back(limit_of<T>(key));
  lay_out_cells();
  count_limits();
  table_.limits = limits_.data();
  table_.passed = passed_.data();
  table_.count = static_cast<std::uint32_t>(limits_.size());
}

template <class T>
void BinLimits<T>::lay_out_cells() {
  const auto finite = [](Limit<T> limit) { return std::isfinite(static_cast<double>(limit)); };
  const auto first = std::find_if(limits_.begin(), limits_.end(), finite);
  const auto last = std::find_if(limits_.rbegin(), limits_.rend(), finite);
  if (first == limits_.end()) return;
  const double cells = static_cast<double>(limits_.size() * cells_a_limit);
  table_.origin = static_cast<double>(*first);
  const double scale = cells / (static_cast<double>(*last) - table_.origin);
  if (!(scale > 0) || !std::isfinite(scale)) return;
  table_.scale = scale;
  table_.last_cell = cells;
}

template <class T>
void BinLimits<T>::count_limits() {
  passed_.resize(static_cast<std::size_t>(table_.last_cell) + 2);
  for (const Limit<T> limit : limits_) {
    // As the kernels do it; but NaN is the limit behind infinity, which nothing reaches.
    const double place = (static_cast<double>(limit) - table_.origin) * table_.scale;
    const double cell = place < table_.last_cell ? std::max(place, 0.0) : table_.last_cell;
    ++passed_[static_cast<std::size_t>(cell) + 1];
  }
  table_.max_in_cell = *std::max_element(passed_.begin(), passed_.end());
  for (std::size_t cell = 1; cell < passed_.size(); ++cell) passed_[cell] += passed_[cell - 1];
}

/// Counts of regions, in several copies where they fit a core's cache: an element needs not wait
/// for the one before it that fell into the same region.
class RegionCounts {
 public:
  explicit RegionCounts(std::size_t regions)
      : regions_(regions), counts_(regions * (regions <= max_copied ? copies : 1)) {}

  void add(const std::uint32_t* regions, std::size_t n) {
    std::uint64_t* const counts = counts_.data();
    std::size_t i = 0;
    if (counts_.size() > regions_)
      for (; i + copies <= n; i += copies)
        for (std::size_t copy = 0; copy < copies; ++copy)
          ++counts[copy * regions_ + regions[i + copy]];
    for (; i < n; ++i) ++counts[regions[i]];
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
        counts_(limits_->table().count + 2) {}

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

class DecodingFactory final : public BinCounterFactory {
 public:
  DecodingFactory(const Kernels& kernels, ElementFormat stored, const Decoding& decoding,
                  std::unique_ptr<BinCounterFactory> values)
      : kernels_(kernels), stored_(stored), decoding_(decoding), values_(std::move(values)) {}

  std::unique_ptr<BinCounter> make() const override {
    return std::make_unique<DecodingCounter>(kernels_, stored_, decoding_, values_->make());
  }

 private:
  const Kernels& kernels_;
  ElementFormat stored_;
  Decoding decoding_;
  std::unique_ptr<BinCounterFactory> values_;
};

template <class Stored>
class TypedFactory final : public BinCounterFactory {
 public:
  TypedFactory(const Kernels& kernels, ByteOrder order, std::span<const std::uint64_t> keys)
      : kernels_(kernels), order_(order), limits_(std::make_shared<BinLimits<T>>(keys)) {}

  std::unique_ptr<BinCounter> make() const override {
    return std::make_unique<TypedBinCounter<Stored>>(kernels_, order_, limits_);
  }

 private:
  using T = Decoded<Stored>;

  const Kernels& kernels_;
  ByteOrder order_;
  std::shared_ptr<const BinLimits<T>> limits_;
};

std::unique_ptr<BinCounterFactory> make_value_factory(const Kernels& kernels, ElementFormat format,
                                                      std::span<const std::uint64_t> bin_keys) {
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<BinCounterFactory> {
    return std::make_unique<TypedFactory<decltype(element)>>(kernels, format.order, bin_keys);
  });
}

}  // namespace

std::unique_ptr<BinCounterFactory> make_bin_counter_factory(const Kernels& kernels,
                                                            ElementFormat format,
                                                            std::span<const std::uint64_t> bin_keys,
                                                            const Decoding& decoding) {
  if (decoding.trivial()) return make_value_factory(kernels, format, bin_keys);
  const ElementFormat values{decoding.value_type(format.type), native_byte_order};
  return std::make_unique<DecodingFactory>(kernels, format, decoding,
                                           make_value_factory(kernels, values, bin_keys));
}

}  // namespace warpfold::cpu
