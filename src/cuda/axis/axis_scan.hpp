#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/engine/stream_engines.hpp"
#include "cuda/axis/sum_window.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

namespace warpfold::cuda::kernels {

/// The sum of doubles so far, of a line or a part of it.
struct FloatLineSum {
  static constexpr std::uint64_t nan = 1;
  static constexpr std::uint64_t positive_infinity = 2;
  static constexpr std::uint64_t negative_infinity = 4;
  static constexpr std::uint64_t inexact = 8;  ///< `finite` had no room for something

  ColumnSum finite;
  std::uint64_t met = 0;  ///< which of the above
};

/// In device memory.
struct AxisScanStatus {
  unsigned long long overflow;  ///< least place that overflows; all bits set where none does
  std::uint32_t inexact_lines;  ///< 0 where there are none
};

/// Lines are split into segments of about the same length, each the work of one thread.
struct LineSegments {
  std::uint64_t count = 1;
  std::uint64_t length = 0;  ///< length of all but the last
};

/// Segments that keep the device busy, for at most max_segments() states.
LineSegments segments_of(const AxisSlab& shape);
std::uint64_t max_segments();

/// A slab of lines in device memory, and where its prefixes go. States are what state_bytes() tells
/// the size of, one for each line.
struct AxisScan {
  const std::byte* elements = nullptr;  ///< elements of type `wide`
  ElementType wide = ElementType::f64;  ///< f64, i64 or u64
  AxisSlab shape = {};
  std::uint64_t lines = 0;  ///< lines of the shape
  LineSegments segments = {};
  ScanOperation operation = ScanOperation::sum;
  bool exclusive = false;
  bool checks_overflow = false;
  std::uint64_t identity = 0;   ///< identity of min and max: bits of a wide value
  std::byte* before = nullptr;  ///< states of lines before the slab
  std::byte* after = nullptr;
  std::byte* segment_states = nullptr;  ///< lines times segments; null for one segment
  ElementType output = ElementType::f64;
  std::byte* prefixes = nullptr;
  bool* inexact = nullptr;  ///< for each line, to be set where prefixes may be wrong
  AxisScanStatus* status = nullptr;
};

std::uint64_t state_bytes(ScanOperation operation, ElementType wide);

/// Has the kernels loaded.
void load_line_scan(const AxisScan& scan);

/// Makes the states before the slab those of no elements.
void begin_lines(const AxisScan& scan, cudaStream_t stream);

void scan_lines(const AxisScan& scan, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
