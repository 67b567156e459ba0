#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/values/decoding.hpp"
#include "cuda/support/sample_data.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda {

/// An element in an arithmetic type that holds any of its values.
template <class T>
auto plain(T element) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<int128>(element);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(element);
  else
    return static_cast<double>(element.to_float());
}

template <class T>
bool is_nan_element(T element) {
  return plain(element) != plain(element);
}

/// A decoding of elements of type T to values of type Value, said twice: as the program does, and
/// in plain C++.
template <class T, class Value = T>
struct SampleDecoding {
  std::string name;
  Decoding decoding;
  std::function<bool(T)> selects;
  std::function<Value(T)> value;
};

/// Elements that are kept, and their former places.
template <class Value>
struct Kept {
  std::vector<Value> values;
  std::vector<std::uint64_t> indices;
};

template <class T, class Value>
Kept<Value> kept_of(const SampleDecoding<T, Value>& sample, const std::vector<T>& elements,
                    std::uint64_t first_index = 0) {
  Kept<Value> kept;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!sample.selects(elements[i])) continue;
    kept.values.push_back(sample.value(elements[i]));
    kept.indices.push_back(first_index + i);
  }
  return kept;
}

template <class T>
std::vector<SampleDecoding<T>> filters() {
  const auto same = [](T element) { return element; };
  std::vector<SampleDecoding<T>> samples;
  Decoding positive;
  positive.values.minimum = ordered_key(element_of<T>(0.0)) + 1;
  positive.values.nan = false;
  samples.push_back({"> 0", positive, [](T x) { return plain(x) > 0; }, same});
  Decoding not_fill;
  not_fill.stored.excluded[0] = ordered_key(element_of<T>(0.0));
  not_fill.stored.excluded[1] = ordered_key(element_of<T>(1.1));
  not_fill.stored.excluded_count = 2;
  const auto fill = plain(element_of<T>(1.1));
  samples.push_back(
      {"!= fill", not_fill, [fill](T x) { return plain(x) != 0 && plain(x) != fill; }, same});
  Decoding none;
  none.stored.minimum = none.stored.maximum = ordered_key(element_of<T>(77.0));
  none.stored.nan = false;
  samples.push_back({"== 77", none, [](T x) { return plain(x) == 77; }, same});
  Decoding nearly_all;
  nearly_all.stored.excluded[0] = ordered_key(element_of<T>(77.0));
  nearly_all.stored.excluded_count = 1;
  samples.push_back({"!= 77", nearly_all, [](T x) { return plain(x) != 77; }, same});
  return samples;
}

/// x -> x * 0.1 + 3 where x and the value are not negative.
template <class T, class Value>
SampleDecoding<T, Value> unpacking() {
  static constexpr Value scale = static_cast<Value>(0.1);
  static constexpr Value offset = 3;
  Decoding decoding;
  decoding.stored.minimum = ordered_key(element_of<T>(0.0));
  decoding.unpacking = {true, element_type_of<Value>(), scale, offset};
  decoding.values.minimum = ordered_key(Value{0});
  return {"unpacked", decoding, [](T x) { return is_nan_element(x) || plain(x) >= 0; },
          [](T x) {
            volatile Value product = static_cast<Value>(plain(x)) * scale;
            const Value value = product + offset;
            return value == value ? value : std::numeric_limits<Value>::quiet_NaN();
          }};
}

}  // namespace warpfold::cuda
