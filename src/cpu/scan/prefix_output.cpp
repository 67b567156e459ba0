#include "cpu/scan/prefix_output.hpp"

#include "core/numeric/rounding.hpp"

namespace warpfold::cpu {

std::optional<std::size_t> store_prefixes(ElementType type, const double* prefixes, std::size_t n,
                                          std::byte* to) {
  visit_element_type(type, [&](auto element) {
    using Out = decltype(element);
    if constexpr (is_floating_element<Out>) {
      auto* out = reinterpret_cast<Out*>(to);
      for (std::size_t i = 0; i < n; ++i) out[i] = output_element<Out>(prefixes[i]);
    }
  });
  return std::nullopt;
}

void store_words(ElementType type, const std::uint64_t* prefixes, std::size_t n, std::byte* to) {
  visit_element_type(type, [&](auto element) {
    using Out = decltype(element);
    auto* out = reinterpret_cast<Out*>(to);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (is_floating_element<Out>) {
        const auto value = static_cast<double>(static_cast<std::int64_t>(prefixes[i]));
        out[i] = output_element<Out>(value);
      } else {
        out[i] = static_cast<Out>(prefixes[i]);
      }
    }
  });
}

std::optional<std::size_t> store_prefixes(ElementType type, const int128* prefixes, std::size_t n,
                                          std::byte* to) {
  std::optional<std::size_t> unfit;
  visit_element_type(type, [&](auto element) {
    using Out = decltype(element);
    auto* out = reinterpret_cast<Out*>(to);
    for (std::size_t i = 0; i < n; ++i) {
      if (!unfit && !can_hold<Out>(prefixes[i])) unfit = i;
      out[i] = output_element<Out>(prefixes[i]);
    }
  });
  return unfit;
}

bool holds(ElementType type, int128 lowest, int128 highest) {
  return visit_element_type(type, [&](auto element) {
    using Out = decltype(element);
    return can_hold<Out>(lowest) && can_hold<Out>(highest);
  });
}

}  // namespace warpfold::cpu
