#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/numeric/rounding.hpp"
#include "core/numeric/special_values.hpp"
#include "core/results/quantile.hpp"
#include "core/values/ordered_key.hpp"

namespace warpfold {

/// Makes quantiles of lines from the dense_key() of their elements.
template <class Element>
class QuantileOutputs {
 public:
  using Key = Word<Element>;

  explicit QuantileOutputs(const LineQuantileSpec& spec) : spec_(spec) {}

  /// Returns whether keys are to be found of a line of so many numbers, and NaN or none.
  bool needs_keys(std::uint64_t numbers, bool any_nan) const {
    return numbers > 0 && numbers >= spec_.quantiles.min_count && !is_poisoned(any_nan);
  }

  /// Writes a line's quantiles as elements of the spec's type, `lines` from one to the next.
  /// keys_at(i, neighbours) returns the keys between which the i-th lies.
  template <class KeysAt>
  void write(std::uint64_t numbers, bool any_nan, std::uint64_t lines, std::uint64_t line,
             std::byte* out, KeysAt&& keys_at) const {
    const bool found = needs_keys(numbers, any_nan);
    for (std::size_t i = 0; i < spec_.quantiles.fractions.size(); ++i) {
      Value quantile = is_poisoned(any_nan) ? Value(quiet_nan) : spec_.empty;
      if (found) {
        const QuantileNeighbours between =
            quantile_neighbours(spec_.quantiles.fractions[i], spec_.quantiles.method, numbers);
        const std::pair<Key, Key> keys = keys_at(i, between);
        quantile = quantile_between(value_of(keys.first), value_of(keys.second), between.weight);
      }
      visit_element_type(spec_.type, [&](auto element) {
        element = element_of<decltype(element)>(quantile);
        reinterpret_cast<decltype(element)*>(out)[i * lines + line] = element;
      });
    }
  }

 private:
  bool is_poisoned(bool any_nan) const {
    return any_nan && spec_.quantiles.nan == NanPolicy::propagate;
  }

  static Value value_of(Key key) {
    return value_of_bits(value_bits(element_of_dense_key<Element>(key)),
                         element_type_of<Element>());
  }

  template <class Out>
  static Out element_of(const Value& value) {
    if (const auto* integer = std::get_if<int128>(&value)) return output_element<Out>(*integer);
    if constexpr (is_floating_element<Out>) {
      const auto* real = std::get_if<double>(&value);
      return output_element<Out>(real != nullptr ? *real : quiet_nan);
    } else {
      return Out{};
    }
  }

  const LineQuantileSpec& spec_;
};

}  // namespace warpfold
