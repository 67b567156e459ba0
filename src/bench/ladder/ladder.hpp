#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/timing_loop.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

/// Kernels from the naive to the fast, each a variant that does one thing better than the one
/// before. Lists are in that order and speak of the device that is current when they are made.
namespace warpfold::bench::ladder {

/// Description of a kernel: its name, what it does, and why it can't run.
struct Label {
  std::string name;     ///< a word for options and reports
  std::string title;    ///< description of the variant, in a line
  std::string refusal;  ///< why it can't run here; empty where it can

  /// Says in a row what the kernel does, and why it can't run.
  void describe(Row& row) const {
    row.title = title;
    row.note = refusal;
  }
};

/// A sum or a scan of an array in device memory. Its functions are null where it is refused.
struct Variant : Label {
  /// Returns how much device memory start() needs beside its arrays.
  std::uint64_t (*scratch_bytes)(std::uint64_t elements);

  /// Starts behind what `stream` holds; allocates nothing. Arrays are aligned to their elements and
  /// don't overlap, `scratch` is aligned to 256 bytes; it need not be cleared. Throws Error where
  /// a launch fails.
  void (*start)(const void* input, std::uint64_t elements, void* output, std::byte* scratch,
                cudaStream_t stream);

  /// Makes a candidate that runs it on the same arrays each time, with scratch memory of its own.
  Candidate candidate(Row row, const void* input, void* output, cudaStream_t stream) const {
    describe(row);
    if (!refusal.empty()) return {std::move(row)};
    const std::uint64_t elements = row.elements;
    const auto scratch = std::make_shared<cuda::DeviceBuffer>(scratch_bytes(elements));
    return {std::move(row), [=, run = start](std::uint64_t) {
              run(input, elements, output, scratch->data(), stream);
            }};
  }
};

/// Lists sums of u32 (modulo 2^32), f32 or f64, of which `output` is one; floats are rounded at
/// each addition, in an order that may differ from run to run. Throws Error for other types.
std::vector<Variant> reduce_variants(ElementType type);

/// Lists inclusive prefix sums of i32, modulo 2^32, as many as there are elements.
std::vector<Variant> scan_variants();

/// Selects the elements of an array that are greater than a threshold, in any order.
struct FilterVariant : Label {
  /// Starts the filter as Variant::start() does its kernel. `threshold` points to an element on the
  /// host, `selected` has room for all elements, `count`, in device memory, becomes the number of
  /// those selected.
  void (*start)(const void* input, std::uint64_t elements, const void* threshold, void* selected,
                std::uint64_t* count, cudaStream_t stream);
};

/// Lists filters of i32 or u32 that count with atomics. Throws Error for other types.
std::vector<FilterVariant> atomics_variants(ElementType type);

}  // namespace warpfold::bench::ladder
