#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace warpfold::bench::host {

enum class Data { uniform, normal, wide, sprinkled };

constexpr const char* name_of(Data data) {
  constexpr const char* names[] = {"uniform", "normal", "60 binary orders", "0.1 % NaN"};
  return names[static_cast<std::size_t>(data)];
}

inline double element(Data data, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  switch (data) {
    case Data::normal:
      return std::sqrt(-2.0 * std::log(unit + 0x1p-54)) * std::cos(static_cast<double>(random()));
    case Data::wide:
      return std::ldexp(random() % 2 == 0 ? 1.0 + unit : -1.0 - unit,
                        static_cast<int>(random() % 60) - 30);
    case Data::sprinkled:
      return random() % 1000 == 0 ? std::nan("") : unit;
    case Data::uniform:
      break;
  }
  return unit;
}

/// Repeats a run of random elements whose length has no common factor with that of a block.
template <class T>
void fill(std::span<std::byte> bytes, Data data) {
  constexpr std::size_t period = 1000003;
  std::mt19937_64 random(1);
  std::vector<T> pattern(period);
  const double scale = std::is_integral_v<T> ? 1e6 : 1.0;
  for (T& x : pattern) x = static_cast<T>(scale * element(data, random));
  auto* x = reinterpret_cast<T*>(bytes.data());
  const std::size_t n = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < n; i += period)
    std::copy_n(pattern.begin(), std::min(period, n - i), x + i);
}

}  // namespace warpfold::bench::host
