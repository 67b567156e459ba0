#include "cpu/reduce/bin_counter.hpp"

#include <algorithm>
#include <vector>

#include "cpu/chunks/block_decoder.hpp"
#include "cpu/chunks/decoded_blocks.hpp"
#include "cpu/reduce/bin_limits.hpp"

namespace warpfold::cpu {
namespace {

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
