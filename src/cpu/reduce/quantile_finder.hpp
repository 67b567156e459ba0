#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/layout/staged_chunks.hpp"
#include "core/results/quantile.hpp"
#include "core/values/decoding.hpp"
#include "cpu/reduce/line_layout.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// The values of all elements of an array, in memory.
struct ValueTable {
  std::byte* values = nullptr;
  std::byte* counted = nullptr;  ///< validity of each value; null if not needed
};

/// Bytes of a ValueTable per element.
struct ValueTableBytes {
  std::size_t value = 0;
  std::size_t counted = 0;

  std::size_t all() const { return value + counted; }
};

ValueTableBytes value_table_bytes(ElementFormat format, const Decoding& decoding);

/// One thread's work on arrays of which quantiles are found along lines. Threads gather an array's
/// elements in a table together, and once all are there find the quantiles of different lines.
class QuantileFinder {
 public:
  virtual ~QuantileFinder() = default;

  /// Brings the element at place p of a slab, all of whose elements are staged, to indices(p) of
  /// the table.
  virtual void gather(const StagedChunks& slab, const std::byte* staging, const BoxIndices& indices,
                      const ValueTable& table) = 0;

  /// Writes the quantiles of some lines, each one's of all lines behind those of the one before,
  /// as elements of the type requested in native byte order. What the lines hold is lost.
  virtual void find(const ValueTable& table, const LineLayout& layout, ElementRange lines,
                    std::byte* out) = 0;
};

std::unique_ptr<QuantileFinder> make_quantile_finder(ElementFormat format, const Decoding& decoding,
                                                     const LineQuantileSpec& spec);

}  // namespace warpfold::cpu
