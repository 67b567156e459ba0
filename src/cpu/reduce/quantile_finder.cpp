#include "cpu/reduce/quantile_finder.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/engine/quantile_outputs.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/reduce/order_statistics.hpp"

namespace warpfold::cpu {
namespace {

/// Returns whether a table says apart which elements count: floats are marked that don't.
template <class Value>
bool has_flags(const Decoding& decoding) {
  return !std::is_floating_point_v<Value> && !decoding.selects_all();
}

template <class Element>
class TypedQuantileFinder final : public QuantileFinder {
 public:
  TypedQuantileFinder(const Kernels& kernels, ElementFormat stored, const Decoding& decoding,
                      const LineQuantileSpec& spec)
      : kernels_(kernels),
        spec_(spec),
        outputs_(spec_),
        values_(kernels, stored, decoding),
        takes_all_(decoding.selects_all() || values_.marks_left_out()),
        marked_(!decoding.selects_all()),
        order_(kernels) {}

  void gather(const StagedChunks& slab, const std::byte* staging, const BoxIndices& indices,
              const ValueTable& table) override {
    for (const StagedChunk& chunk : slab.chunks) {
      const ChunkElements elements = values_.elements_of(slab, chunk, staging);
      ChunkRows(slab.grid, slab.target, chunk.number).for_each([&](const ChunkRow& row) {
        for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
          const std::uint64_t n = std::min<std::uint64_t>(block_elements, row.elements - done);
          const std::uint64_t place = row.target + done;
          const Element* x = values_of(elements, row.source + done, n, {slab.indices, place});
          bring(x, n, place, indices, table);
        }
      });
    }
  }

  void find(const ValueTable& table, const LineLayout& layout, ElementRange lines,
            std::byte* out) override {
    const std::uint64_t most = lines_at_once(layout);
    for (std::uint64_t done = 0; done < lines.count;) {
      const std::uint64_t line = lines.first + done;
      const std::uint64_t n =
          std::min({most, lines.count - done, layout.beside - line % layout.beside});
      Key* const keys = keys_of(table, layout, line, n);
      for (std::uint64_t i = 0; i < n; ++i)
        find_in(keys + i * pitch_, layout.length, numbers_[i], lines.count, done + i, out);
      done += n;
    }
  }

 private:
  using Key = Word<Element>;

  /// Keys of what is no number, greater than those of floats.
  static constexpr Key key_of_nan = std::numeric_limits<Key>::max();
  static constexpr Key key_of_left_out =
      std::is_integral_v<Element> ? key_of_nan : static_cast<Key>(key_of_nan - 1);

  /// Returns values; those that don't count are marked, or not set in counted_.
  const Element* values_of(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                           const ElementIndices& indices) {
    if (takes_all_) return values_.values(elements, first, n, indices);
    x_.resize(block_elements);
    if constexpr (std::is_floating_point_v<Element>) {
      std::fill_n(x_.begin(), n, left_out_mark<Element>);
      values_.for_each_counted(elements, first, n, indices, [&](Element value, std::uint64_t i) {
        x_[i] = value == value ? value : std::numeric_limits<Element>::quiet_NaN();
      });
    } else {
      counted_.assign(block_elements, std::byte{0});
      values_.for_each_counted(elements, first, n, indices, [&](Element value, std::uint64_t i) {
        x_[i] = value;
        counted_[i] = std::byte{1};
      });
    }
    return x_.data();
  }

  void bring(const Element* x, std::uint64_t n, std::uint64_t place, const BoxIndices& indices,
             const ValueTable& table) const {
    const std::uint64_t run = LineLayout::consecutive(indices, place + n);
    for (std::uint64_t done = 0; done < n;) {
      const std::uint64_t at = indices(place + done);
      const std::uint64_t count = std::min(n - done, run - (place + done) % run);
      std::copy_n(x + done, count, reinterpret_cast<Element*>(table.values) + at);
      if (table.counted != nullptr) std::copy_n(counted_.data() + done, count, table.counted + at);
      done += count;
    }
  }

  /// Returns how many lines are taken at a time: those whose elements are side by side together,
  /// as many as stay in a core's cache, or at least some that share its lines.
  static std::uint64_t lines_at_once(const LineLayout& layout) {
    constexpr std::uint64_t cached_bytes = std::uint64_t{1} << 18;
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;
    if (layout.run == layout.length) return 1;
    const std::uint64_t line_bytes = layout.length * sizeof(Key);
    const std::uint64_t least = std::clamp<std::uint64_t>(most_bytes / line_bytes, 1, 16);
    return std::clamp<std::uint64_t>(cached_bytes / line_bytes, least, 64);
  }

  /// Rows are requested so many ahead: they lie on pages of their own, where the hardware does not
  /// do so.
  static constexpr std::uint64_t rows_ahead = 16;

  static void prefetch(const Element* x, std::uint64_t n) {
    constexpr std::uint64_t cache_line = 64 / sizeof(Element);
    for (std::uint64_t i = 0; i < n; i += cache_line) __builtin_prefetch(x + i);
  }

  /// Makes keys of the values of `n` lines side by side, pitch_ from one to the next, and counts
  /// in numbers_ those that may be chosen.
  Key* keys_of(const ValueTable& table, const LineLayout& layout, std::uint64_t line,
               std::uint64_t n) {
    const std::uint64_t first = layout.first(line);
    const Element* const x = reinterpret_cast<const Element*>(table.values) + first;
    const std::byte* const counted = table.counted != nullptr ? table.counted + first : nullptr;
    if (layout.run == layout.length) {
      pitch_ = layout.length;
      auto* const keys = reinterpret_cast<Key*>(table.values) + first;
      numbers_[0] = make_keys(x, counted, layout.length, keys);
      return keys;
    }
    // No multiple of the memory's pages, which would have keys displace one another in the cache.
    constexpr std::uint64_t cache_line = 64 / sizeof(Key);
    pitch_ = ((layout.length / cache_line + 1) | 1) * cache_line;
    keys_.resize(std::max<std::size_t>(keys_.size(), n * pitch_));
    std::fill_n(numbers_, n, 0);
    for (std::uint64_t at = 0; at < layout.length; at += layout.run) {
      const std::uint64_t from = layout.within(at);
      const std::uint64_t ahead = at + rows_ahead * layout.run;
      if (layout.run == 1 && ahead < layout.length) prefetch(x + layout.within(ahead), n);
      const std::byte* const flags = counted != nullptr ? counted + from : nullptr;
      // Either one line has several elements side by side, or several lines have one each.
      if (layout.run > 1)
        numbers_[0] += make_keys(x + from, flags, layout.run, keys_.data() + at);
      else
        spread_keys(x + from, flags, n, keys_.data() + at);
    }
    return keys_.data();
  }

  Key key_of(Element x) const {
    if constexpr (std::is_floating_point_v<Element>) {
      const Key other = marked_ && is_left_out_mark(x) ? key_of_left_out : key_of_nan;
      return x == x ? dense_key(x) : other;
    } else {
      return dense_key(x);
    }
  }

  std::uint64_t make_keys(const Element* x, const std::byte* counted, std::uint64_t n,
                          Key* keys) const {
    if (counted == nullptr) {
      for (std::uint64_t i = 0; i < n; ++i) keys[i] = key_of(x[i]);
      return n;
    }
    std::uint64_t numbers = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const bool counts = counted[i] != std::byte{0};
      keys[i] = counts ? key_of(x[i]) : key_of_left_out;
      numbers += counts ? 1 : 0;
    }
    return numbers;
  }

  /// Makes the keys of an element of each of `n` lines.
  void spread_keys(const Element* x, const std::byte* counted, std::uint64_t n, Key* keys) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const bool counts = counted == nullptr || counted[i] != std::byte{0};
      keys[i * pitch_] = counts ? key_of(x[i]) : key_of_left_out;
      numbers_[i] += counts ? 1 : 0;
    }
  }

  /// Writes the quantiles of the keys of a line, of which there are `numbers` and, of floats, what
  /// is none: those of `lines` lines are side by side.
  void find_in(Key* keys, std::uint64_t length, std::uint64_t numbers, std::uint64_t lines,
               std::uint64_t line, std::byte* out) {
    bool any_nan = false;
    if constexpr (std::is_floating_point_v<Element>) {
      const auto& kernels = kernels_of<Key>(kernels_);
      numbers = kernels.count_below(keys, length, key_of_left_out);
      any_nan = numbers < length && kernels.count_below(keys, length, key_of_nan) < length;
    }
    if (outputs_.needs_keys(numbers, any_nan))
      order_.take(keys, length, spec_.quantiles.fractions.size());
    outputs_.write(
        numbers, any_nan, lines, line, out, [&](std::size_t, const QuantileNeighbours& between) {
          const Key key = order_.at(between.lower);
          return std::pair(
              key, between.upper == between.lower ? key : order_.behind(between.lower, key));
        });
  }

  const Kernels& kernels_;
  LineQuantileSpec spec_;
  QuantileOutputs<Element> outputs_;
  ChunkValues<Element> values_;
  bool takes_all_;  ///< elements that are left out, too, which are marked
  bool marked_;     ///< whether floats may be
  OrderStatistics<Key> order_;
  std::vector<Element> x_;
  std::vector<std::byte> counted_;
  std::vector<Key> keys_;
  std::uint64_t pitch_ = 0;
  std::uint64_t numbers_[64] = {};
};

}  // namespace

ValueTableBytes value_table_bytes(ElementFormat format, const Decoding& decoding) {
  return visit_value_type(format.type, decoding, [&](auto value) -> ValueTableBytes {
    return {sizeof(value), has_flags<decltype(value)>(decoding) ? std::size_t{1} : 0};
  });
}

std::unique_ptr<QuantileFinder> make_quantile_finder(ElementFormat format, const Decoding& decoding,
                                                     const LineQuantileSpec& spec) {
  return visit_value_type(format.type, decoding,
                          [&](auto value) -> std::unique_ptr<QuantileFinder> {
                            return std::make_unique<TypedQuantileFinder<decltype(value)>>(
                                choose_kernels(), format, decoding, spec);
                          });
}

}  // namespace warpfold::cpu
