#include "cpu/chunks/element_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu/chunks/block_decoder.hpp"

namespace warpfold::cpu {
namespace {

struct BlockBits {
  std::uint64_t words[words_of(block_elements)];
};

constexpr BlockBits all_counting = [] {
  BlockBits bits{};
  for (std::uint64_t& word : bits.words) word = ~std::uint64_t{0};
  return bits;
}();

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
    // The zeros are one value with two keys; kernels compare the last one.
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

/// Returns the filter that selects of T's values, T a type that kernels take, those that a filter
/// of them selects.
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

/// Selects values as a ValueFilter does.
template <class T>
class ValueSelection {
 public:
  ValueSelection(const Kernels& kernels, const ValueFilter& filter)
      : select_(kernels_of<T>(kernels).decoding.select),
        all_(filter.selects_all()),
        keys_(key_filter_of<T>(filter)) {}

  bool all() const { return all_; }

  /// Sets the bits of values that count; returns how many do.
  std::size_t select(const T* x, std::size_t n, std::uint64_t* counts) const {
    return select_(x, n, keys_, counts);
  }

 private:
  SelectValues<T> select_;
  bool all_;
  KeyFilter<NativeKey<T>> keys_;
};

template <class Stored, class Value>
class TypedElementDecoder final : public ElementDecoder {
 public:
  TypedElementDecoder(const Kernels& kernels, ByteOrder order, const Decoding& decoding,
                      std::uint64_t left_out)
      : kernels_(kernels),
        blocks_(kernels, order),
        unpacking_(decoding.unpacking),
        stored_(kernels, decoding.stored),
        selected_(kernels, decoding.values),
        left_out_(static_cast<Word<Value>>(left_out)) {}

  DecodedValues decode(const std::byte* stored, std::size_t n) override {
    const Element* x = blocks_.decode(stored, n);
    const Value* values = values_of(stored, x, n);
    std::size_t kept = n;
    if (!stored_.all()) kept = stored_.select(x, n, counts_);
    if (!selected_.all() && kept > 0) {
      std::uint64_t* const counts = stored_.all() ? counts_ : selected_counts_;
      kept = selected_.select(comparable(values, x), n, counts);
      if (!stored_.all()) kept = both_count(n);
    }
    return {reinterpret_cast<const std::byte*>(values), counts_, kept};
  }

  void pack(const DecodedValues& decoded, std::size_t n, std::byte* values) const override {
    using Packed = Word<Value>;
    if (decoded.kept == n)
      std::memcpy(values, decoded.values, n * sizeof(Value));
    else if (decoded.kept > 0)
      kernels_of<Packed>(kernels_).decoding.pack(reinterpret_cast<const Packed*>(decoded.values), n,
                                                 decoded.counts, reinterpret_cast<Packed*>(values));
  }

  void fill(const DecodedValues& decoded, std::size_t n, std::byte* values) const override {
    using Replaced = std::conditional_t<std::is_same_v<Value, Decoded<Value>>, Value, Word<Value>>;
    auto* const to = reinterpret_cast<Replaced*>(values);
    const auto left_out = std::bit_cast<Replaced>(left_out_);
    if (decoded.kept == 0)
      std::fill_n(to, n, left_out);
    else
      kernels_of<Replaced>(kernels_).decoding.replace(
          reinterpret_cast<const Replaced*>(decoded.values), n,
          decoded.kept == n ? all_counting.words : decoded.counts, left_out, to);
  }

 private:
  using Element = Decoded<Stored>;

  const Value* values_of(const std::byte* stored, const Element* x, std::size_t n) {
    if (!unpacking_.active) return reinterpret_cast<const Value*>(blocks_.native(stored, n));
    if constexpr (std::is_floating_point_v<Value>) {
      if (is_floating(unpacking_.product)) {
        const auto& kernels = kernels_of<Element>(kernels_).decoding;
        const UnpackTerms terms{unpacking_.scale, unpacking_.offset,
                                unpacking_.product == ElementType::f32};
        if constexpr (std::is_same_v<Value, float>)
          kernels.unpack_f32(x, n, terms, values_);
        else
          kernels.unpack_f64(x, n, terms, values_);
        return values_;
      }
    }
    if constexpr (std::is_floating_point_v<Value> || sizeof(Value) == sizeof(std::uint64_t))
      for (std::size_t i = 0; i < n; ++i) values_[i] = unpacked<Value>(x[i], unpacking_);
    return values_;
  }

  /// Values as kernels compare them: floats of 16 bits widened, which are as they are stored.
  static const Decoded<Value>* comparable(const Value* values, const Element* x) {
    if constexpr (std::is_same_v<Value, Decoded<Value>>)
      return values;
    else
      return x;
  }

  std::size_t both_count(std::size_t n) {
    const std::size_t words = words_of(n);
    for (std::size_t i = 0; i < words; ++i) counts_[i] &= selected_counts_[i];
    return kernels_.count_bits(counts_, words);
  }

  const Kernels& kernels_;
  BlockDecoder<Stored> blocks_;
  Unpacking unpacking_;
  ValueSelection<Element> stored_;
  ValueSelection<Decoded<Value>> selected_;
  Word<Value> left_out_;
  alignas(64) Value values_[block_elements];
  std::uint64_t counts_[words_of(block_elements)];
  std::uint64_t selected_counts_[words_of(block_elements)];
};

}  // namespace

Decoding widening(const Decoding& decoding, ElementType stored) {
  if (is_integer(stored)) return decoding;
  return as_floats(decoding, stored).value_or(decoding);
}

std::optional<Decoding> as_floats(const Decoding& decoding, ElementType stored) {
  const std::size_t bytes = size_of(stored);
  const bool has_floats = is_integer(stored) ? bytes <= 4 : bytes == 2;
  if (decoding.unpacking.active || !has_floats) return std::nullopt;
  Decoding floats = decoding;
  floats.unpacking.active = true;
  floats.unpacking.type = floats.unpacking.product =
      bytes <= 2 ? ElementType::f32 : ElementType::f64;
  if (!is_integer(stored) || decoding.values.selects_all()) return floats;
  if (!decoding.stored.selects_all()) return std::nullopt;
  std::swap(floats.stored, floats.values);
  return floats;
}

std::unique_ptr<ElementDecoder> make_element_decoder(const Kernels& kernels, ElementFormat stored,
                                                     const Decoding& decoding,
                                                     std::uint64_t left_out) {
  return visit_element_type(stored.type, [&](auto element) -> std::unique_ptr<ElementDecoder> {
    using Stored = decltype(element);
    const auto make = [&](auto value) -> std::unique_ptr<ElementDecoder> {
      return std::make_unique<TypedElementDecoder<Stored, decltype(value)>>(kernels, stored.order,
                                                                            decoding, left_out);
    };
    return visit_value_of<Stored>(decoding.unpacking, make);
  });
}

}  // namespace warpfold::cpu
