#include "core/results/order_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/numeric/rounding.hpp"
#include "core/values/ordered_key.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t few_elements = std::uint64_t{1} << 24;
constexpr int bits_of_few = 17;
constexpr int bits_of_many = 22;
static_assert(std::uint64_t{1} << bits_of_many <= max_histogram_bins);

template <class T>
KeyRange range_of_type() {
  if constexpr (is_floating_element<T>) {
    const Word<T> last = dense_key(output_element<T>(std::numeric_limits<double>::infinity()));
    return {static_cast<Word<T>>(Word<T>{0} - last), last};
  } else {
    return {0, std::numeric_limits<Word<T>>::max()};
  }
}

KeyRange range_of(ElementType type) {
  return visit_element_type(type, [](auto element) { return range_of_type<decltype(element)>(); });
}

/// Returns how many bits hold the number.
int bits_of(std::uint64_t n) { return static_cast<int>(std::bit_width(n)); }

/// Returns how many values a bin takes of a range that it takes several passes to divide, as a
/// power of two: passes are as few as can be, and have bins as few as can be.
int shift_of_bins(const KeyRange& range, int most_bits) {
  const int bits = bits_of(range.last - range.first);
  const int passes = (bits + most_bits - 1) / most_bits;
  return bits - (bits + passes - 1) / passes;
}

}  // namespace

OrderSearch::OrderSearch(ElementType type, std::uint64_t elements)
    : type_(type),
      bits_of_pass_(elements < few_elements ? bits_of_few : bits_of_many),
      open_{range_of(type)} {}

std::vector<std::uint64_t> OrderSearch::bin_starts() const {
  const std::uint64_t greatest = range_of(type_).last;
  const int most_bits = std::max(1, bits_of_pass_ - bits_of(open_.size() - 1));
  std::vector<std::uint64_t> starts;
  for (const KeyRange& range : open_) {
    const int shift = shift_of_bins(range, most_bits);
    const std::uint64_t last_bin = (range.last - range.first) >> shift;
    if (!starts.empty() && starts.back() == range.first) starts.pop_back();
    for (std::uint64_t bin = 0; bin <= last_bin; ++bin)
      starts.push_back(range.first + (bin << shift));
    if (range.last < greatest) starts.push_back(range.last + 1);
  }
  return starts;
}

std::vector<std::uint64_t> OrderSearch::bin_keys() const {
  std::vector<std::uint64_t> keys = bin_starts();
  visit_element_type(type_, [&](auto element) {
    using T = decltype(element);
    for (std::uint64_t& key : keys)
      key = ordered_key(element_of_dense_key<T>(static_cast<Word<T>>(key)));
  });
  return keys;
}

void OrderSearch::narrow(const HistogramCounts& counts, std::span<const std::uint64_t> orders) {
  const std::vector<std::uint64_t> starts = bin_starts();
  const auto count_of = [&](std::size_t bin) {
    return bin < counts.bins.size() ? counts.bins[bin] : counts.above;
  };
  const auto last_of = [&](std::size_t bin) {
    return bin + 1 < starts.size() ? starts[bin + 1] - 1 : range_of(type_).last;
  };
  ranges_.resize(orders.size(), open_.front());
  open_.clear();
  std::size_t bin = 0;
  std::uint64_t before = counts.below;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    KeyRange& range = ranges_[i];
    if (range.first == range.last) continue;
    while (bin + 1 < starts.size() && before + count_of(bin) <= orders[i])
      before += count_of(bin++);
    range = {starts[bin], last_of(bin)};
    const bool open = range.first < range.last;
    if (open && (open_.empty() || open_.back() != range)) open_.push_back(range);
  }
}

Value OrderSearch::value(std::size_t i) const {
  return visit_element_type(type_, [&](auto element) {
    using T = decltype(element);
    const auto key = static_cast<Word<T>>(ranges_[i].first);
    return value_of_bits(value_bits(element_of_dense_key<T>(key)), type_);
  });
}

}  // namespace warpfold
