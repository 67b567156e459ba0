#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// An array whose sums have a closed form, for arrays too large for the host.
namespace warpfold::bench::ladder {

/// Element i, modulo 2^32.
struct Pattern {
  static constexpr std::uint64_t slope = 2654435761;
  static constexpr std::uint64_t start = 123456789;

  /// Modulo 2^32, of which the factors' being modulo 2^64 takes nothing away.
  static constexpr std::uint32_t sum(std::uint64_t elements) {
    const std::uint64_t pairs =
        elements % 2 == 0 ? elements / 2 * (elements - 1) : (elements - 1) / 2 * elements;
    return static_cast<std::uint32_t>(elements == 0 ? 0 : slope * pairs + start * elements);
  }
};

void fill_pattern(std::uint32_t* array, std::uint64_t elements, cudaStream_t stream);

/// Adds to `mismatches` the number of elements of `array` that are not the pattern's inclusive
/// prefix sums.
void count_mismatches(const std::uint32_t* array, std::uint64_t elements,
                      unsigned long long* mismatches, cudaStream_t stream);

}  // namespace warpfold::bench::ladder
