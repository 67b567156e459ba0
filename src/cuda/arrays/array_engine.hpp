#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

struct CUstream_st;

namespace warpfold::cuda {

using StreamHandle = CUstream_st*;

/// One kind of scan of arrays in device memory. Arrays are not empty; indices count from their
/// start. Work goes behind what the stream holds.
class ArrayScanner {
 public:
  virtual ~ArrayScanner() = default;

  /// Whether scan() of so many elements needs total() before.
  virtual bool needs_total(std::uint64_t elements) const = 0;

  /// What the array adds to what precedes later ones, normalized; returns once it is known.
  virtual Accumulator total(const void* input, std::uint64_t elements, StreamHandle stream) = 0;

  /// The prefixes, given what precedes the array. Returns the index of the first that the output
  /// type can't hold, if any, unless overflow wraps; may return before the prefixes are there.
  virtual std::optional<std::uint64_t> scan(const void* input, void* output, std::uint64_t elements,
                                            const Accumulator& before, StreamHandle stream) = 0;
};

/// Reduces and scans arrays that a caller keeps in device memory. One array at a time.
class ArrayEngine {
 public:
  virtual ~ArrayEngine() = default;

  /// Throws Error unless `memory` is on the engine's device and that device is current.
  virtual void check_memory(const void* memory) const = 0;

  /// Starts a reduction behind what the stream holds; indices count from the array's start.
  virtual void start_reduce(const void* elements, std::uint64_t count, ElementType type,
                            ReduceNeeds needs, StreamHandle stream) = 0;

  /// Waits for the reduction that was started; normalized.
  virtual Accumulator reduce_result() = 0;

  /// Kept for the next scan of the kind. Throws Error for one that can't be.
  virtual ArrayScanner& scanner(const ScanSpec& spec, bool reproducible) = 0;
};

/// An engine for the current device. Throws Error where there is none.
std::unique_ptr<ArrayEngine> make_array_engine();

}  // namespace warpfold::cuda
