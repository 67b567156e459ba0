#include "cpu/chunks/key_filter.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

namespace warpfold::cpu {
namespace {

/// Keys of 32 bits, in order, beside the wide ones that ValueFilter has of the same values.
template <class T>
class NarrowKeys {
 public:
  /// Returns the first key whose value has a wide one that is not less; one past the last (modulo
  /// 2^32 where it has no bits for that) if there is none.
  static std::uint64_t first_from(std::uint64_t wide) {
    std::uint64_t first = lowest;
    std::uint64_t end = highest + 1;
    while (first < end) {
      const std::uint64_t middle = first + (end - first) / 2;
      if (wide_key(static_cast<std::uint32_t>(middle)) < wide)
        first = middle + 1;
      else
        end = middle;
    }
    return first;
  }

  /// Returns one past the last key whose value has a wide one that is not more.
  static std::uint64_t end_up_to(std::uint64_t wide) {
    return wide == ~std::uint64_t{0} ? highest + 1 : first_from(wide + 1);
  }

 private:
  static constexpr std::uint32_t sign = std::uint32_t{1} << 31;
  static constexpr std::uint32_t infinity = 0x7f800000;
  static constexpr bool floating = std::is_floating_point_v<T>;
  static constexpr std::uint64_t lowest = floating ? std::uint32_t{~(infinity | sign)} : 0;
  static constexpr std::uint64_t highest =
      floating ? infinity | sign : std::numeric_limits<std::uint32_t>::max();

  static std::uint64_t wide_key(std::uint32_t key) {
    if constexpr (floating)
      return ordered_key(std::bit_cast<float>((key & sign) != 0 ? key ^ sign : ~key));
    else if constexpr (std::is_signed_v<T>)
      return ordered_key(static_cast<std::int32_t>(key ^ sign));
    else
      return ordered_key(key);
  }
};

template <class Key>
void select_nothing(KeyFilter<Key>& filter) {
  filter.minimum = filter.span = filter.excluded[0] = 0;
  filter.excluded_count = 1;
}

template <class T>
KeyFilter<std::uint32_t> narrow_filter(const ValueFilter& filter) {
  using Keys = NarrowKeys<T>;
  KeyFilter<std::uint32_t> narrow;
  narrow.nan = filter.nan;
  const std::uint64_t first = Keys::first_from(filter.minimum);
  const std::uint64_t end = Keys::end_up_to(filter.maximum);
  if (filter.minimum <= filter.maximum && first >= end) {
    select_nothing(narrow);
    return narrow;
  }
  narrow.minimum = static_cast<std::uint32_t>(first);
  narrow.span = static_cast<std::uint32_t>(end - 1 - first);
  for (int i = 0; i < filter.excluded_count; ++i) {
    // Of the two that stand for zeros, which are one value, the last is theirs.
    const std::uint64_t behind = Keys::end_up_to(filter.excluded[i]);
    if (Keys::first_from(filter.excluded[i]) < behind)
      narrow.excluded[narrow.excluded_count++] = static_cast<std::uint32_t>(behind - 1);
  }
  return narrow;
}

KeyFilter<std::uint64_t> same_filter(const ValueFilter& filter) {
  KeyFilter<std::uint64_t> same;
  same.nan = filter.nan;
  same.minimum = filter.minimum;
  same.span = filter.maximum - filter.minimum;
  same.excluded_count = filter.excluded_count;
  std::copy(std::begin(filter.excluded), std::end(filter.excluded), std::begin(same.excluded));
  return same;
}

}  // namespace

template <class T>
KeyFilter<NativeKey<T>> key_filter_of(const ValueFilter& filter) {
  static_assert(max_excluded_keys == ValueFilter::max_excluded);
  KeyFilter<NativeKey<T>> keys;
  if constexpr (sizeof(NativeKey<T>) == sizeof(std::uint64_t))
    keys = same_filter(filter);
  else
    keys = narrow_filter<T>(filter);
  // Kernels compare all of them.
  for (int i = std::max(1, keys.excluded_count); i < max_excluded_keys; ++i)
    keys.excluded[i] = keys.excluded[0];
  return keys;
}

template KeyFilter<std::uint32_t> key_filter_of<std::int8_t>(const ValueFilter&);
template KeyFilter<std::uint32_t> key_filter_of<std::int16_t>(const ValueFilter&);
template KeyFilter<std::uint32_t> key_filter_of<std::int32_t>(const ValueFilter&);
template KeyFilter<std::uint64_t> key_filter_of<std::int64_t>(const ValueFilter&);
template KeyFilter<std::uint32_t> key_filter_of<std::uint8_t>(const ValueFilter&);
template KeyFilter<std::uint32_t> key_filter_of<std::uint16_t>(const ValueFilter&);
template KeyFilter<std::uint32_t> key_filter_of<std::uint32_t>(const ValueFilter&);
template KeyFilter<std::uint64_t> key_filter_of<std::uint64_t>(const ValueFilter&);
template KeyFilter<std::uint32_t> key_filter_of<float>(const ValueFilter&);
template KeyFilter<std::uint64_t> key_filter_of<double>(const ValueFilter&);

}  // namespace warpfold::cpu
