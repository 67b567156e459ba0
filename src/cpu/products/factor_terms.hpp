#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/values/factors.hpp"
#include "cpu/chunks/bit_runs.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// Doubles, with room for the kernels behind them.
class PaddedDoubles {
 public:
  /// Makes room for `n`; what there was is lost.
  double* resize(std::size_t n) {
    if (values_.size() < n + padding) values_.resize(n + padding);
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(n), padding, 0.0);
    return values_.data();
  }

  double* data() { return values_.data(); }
  double& operator[](std::size_t i) { return values_[i]; }

 private:
  static constexpr std::size_t padding = 8;

  std::vector<double> values_ = std::vector<double>(padding);
};

/// Writes the factors of `n` elements of consecutive indices.
inline void copy_factors(const Factors& factors, std::uint64_t first, std::size_t n, double* to) {
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t at = first + done;
    const std::uint64_t number = at / factors.stride % factors.period;
    std::size_t some = n - done;
    if (factors.stride == 1) {
      some = std::min<std::uint64_t>(some, factors.period - number);
      std::copy_n(factors.values + number, some, to + done);
    } else {
      some = std::min<std::uint64_t>(some, factors.stride - at % factors.stride);
      std::fill_n(to + done, some, factors.values[number]);
    }
    done += some;
  }
}

/// Writes the factors of `n` elements from a place of a box on.
inline void copy_factors(const Factors& factors, const BoxIndices& indices, std::uint64_t place,
                         std::size_t n, double* to) {
  for_each_index_run(indices, place, n, all_indices,
                     [&](std::uint64_t index, std::size_t done, std::size_t run) {
                       copy_factors(factors, index, run, to + done);
                     });
}

}  // namespace warpfold::cpu
