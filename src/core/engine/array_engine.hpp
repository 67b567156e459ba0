#pragma once

#include <cstdint>
#include <optional>

#include "core/results/accumulator.hpp"
#include "core/scan/scan_spec.hpp"
#include "warpfold/core/element_type.hpp"

struct CUstream_st;

namespace warpfold {

using StreamHandle = CUstream_st*;

/// Reduces and scans arrays that a caller keeps in memory, one at a time. Arrays are not empty;
/// indices count from their start. Work on a device goes behind what the stream holds; the host has
/// no streams.
class ArrayEngine {
 public:
  virtual ~ArrayEngine() = default;

  /// Throws Error unless `memory` is the engine's: on its device, which must be current.
  virtual void check_memory(const void* memory) const = 0;

  /// Starts a reduction.
  virtual void start_reduce(const void* elements, std::uint64_t count, ElementType type,
                            ReduceNeeds needs, StreamHandle stream) = 0;

  /// Waits for the reduction that was started; normalized.
  virtual Accumulator reduce_result() = 0;

  /// Prepares the scan that the functions below carry out, and keeps what it takes for later ones.
  /// Throws Error for one that can't be.
  virtual void prepare_scan(const ScanSpec& spec, bool reproducible) = 0;

  /// Returns whether scan() of so many elements needs total() before; where it doesn't, total() is
  /// for what follows the array.
  virtual bool needs_total(std::uint64_t elements) const = 0;

  /// Returns what the array adds to what precedes later ones, normalized, once it is known.
  virtual Accumulator total(const void* input, std::uint64_t elements, StreamHandle stream) = 0;

  /// Writes the prefixes, given what precedes the array. Returns the index of the first that the
  /// output type can't hold, if any, unless overflow wraps; may return before the prefixes are
  /// there.
  virtual std::optional<std::uint64_t> scan(const void* input, void* output, std::uint64_t elements,
                                            const Accumulator& before, StreamHandle stream) = 0;
};

}  // namespace warpfold
