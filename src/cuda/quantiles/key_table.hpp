#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/results/quantile.hpp"
#include "cuda/chunks/decode_elements.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// A round closes in on keys by so many of their bits: it counts the keys below so many pivots.
inline constexpr int bits_of_round = 3;
inline constexpr std::uint32_t pivots_of_round = (1u << bits_of_round) - 1;

/// Arrays of device memory: a table of keys, of so many rows of `outputs` keys, each the
/// dense_key() of a value of type `values`; what is no number has the greatest. And how many
/// elements of each output are left out, and how many others NaN.
struct KeyTable {
  ElementType values;
  std::byte* keys;
  std::uint32_t* left_out;
  std::uint32_t* nan;
  std::uint64_t rows = 0;  ///< less than 2^32
  std::uint64_t outputs = 0;
};

/// Keys have a found_key_bytes() large integer where they are found.
constexpr std::size_t found_key_bytes(ElementType values) {
  return size_of(values) == sizeof(std::uint64_t) ? sizeof(std::uint64_t) : sizeof(std::uint32_t);
}

/// A search finds in a table, for each fraction and output, fraction by fraction, the key below the
/// quantile, and the one above it. All are arrays of device memory.
struct KeySearch {
  KeyTable table;
  QuantileMethod method = QuantileMethod::linear;
  const double* fractions;
  std::uint64_t count = 1;  ///< number of fractions
  std::byte* lower;
  std::byte* upper;      ///< null where quantiles are elements
  std::uint32_t* below;  ///< pivots_of_round of them for each fraction and output

  WARPFOLD_HD std::uint64_t searches() const { return count * table.outputs; }
};

/// Have the kernels loaded, which a launch would wait for.
void load_gathering(ElementType stored);
void load_search(ElementType values);

/// Starts bringing the keys of a slab's elements, rows of the table's matrix, to the rows from
/// `first_row` on.
void gather_keys(const StoredElements& stored, const KeyTable& table, std::uint64_t first_row,
                 cudaStream_t stream);

/// Starts finding keys. Reads each key of the table once for every bits_of_round of its bits, and
/// once more for the keys above; all fractions' searches read it side by side.
void search_keys(const KeySearch& search, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
