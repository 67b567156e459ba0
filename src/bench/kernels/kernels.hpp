#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

/// Kernels that fill arrays in device memory, probe the memory and check what scans made of it.
namespace warpfold::bench::kernels {

/// Patterns of generated elements. From `walk` up to `tails` they exist for floats only.
enum class Pattern : std::uint8_t {
  uniform,    ///< floats in [0, 1); integers of full range
  walk,       ///< in (-1, 1)
  wide,       ///< random signs over 60 binary orders (f16: 20)
  drift,      ///< in (-1, 1) times a magnitude that goes through 40 decimal orders and back
  fill,       ///< in (-1, 1), but for one 1e37 in ten
  cancel,     ///< 1e20, -1e20 and a thousandth of (-1, 1) in turns
  subnormal,  ///< in (-1, 1) times a sixteenth of the type's least normal value
  largest,    ///< the type's largest value and its negative in turns
  tails,      ///< exp(-x) of evenly distributed x, down to the type's least normal value
  steps       ///< -1, 0 or 1 (unsigned: 0 or 1): floats whose partial sums are exact
};

/// Patterns that options can name.
inline constexpr std::pair<std::string_view, Pattern> named_patterns[] = {
    {"uniform", Pattern::uniform},     {"walk", Pattern::walk},       {"wide", Pattern::wide},
    {"drift", Pattern::drift},         {"fill", Pattern::fill},       {"cancel", Pattern::cancel},
    {"subnormal", Pattern::subnormal}, {"largest", Pattern::largest}, {"tails", Pattern::tails}};

/// Fills an array with random elements, each a function of its index and `seed`.
void fill(void* elements, ElementType type, Pattern pattern, std::uint64_t count,
          std::uint64_t seed, cudaStream_t stream);

/// The distribution of labels over elements.
enum class Labelling : std::uint8_t {
  uniform,  ///< every label as often
  skewed,   ///< label i - 1 in proportion to about 1 / i (Zipf's law)
  runs      ///< as uniform ones, of 64 elements in a row each
};

/// Fills an array with labels from 0 to labels - 1, each a function of its index and `seed`.
void fill_labels(std::uint32_t* elements, std::uint64_t labels, Labelling labelling,
                 std::uint64_t count, std::uint64_t seed, cudaStream_t stream);

/// Elements in device memory, and a label of each, below `labels`.
struct LabelledElements {
  const std::byte* elements;
  ElementType type;  ///< f32, f64 or i64
  const std::uint32_t* numbers;
  std::uint64_t count;
  std::uint64_t labels;
};

/// Sums the elements of each label, in their type, and counts them, by two atomic additions per
/// element: in shared memory first if all labels fit there. Sums of floats depend on the order.
/// Overwrites `sums` and `counts`, in device memory.
void add_by_label(const LabelledElements& labelled, std::byte* sums, std::uint32_t* counts,
                  cudaStream_t stream);

/// Returns how many blocks of read_probe() the current device holds at once.
int resident_probe_blocks();

/// Only reads an array, aligned to 16 bytes, at the rate that the memory gives it: its 32-bit words
/// (up to the last multiple of 16 bytes) are combined by exclusive or into `*result`, in device
/// memory, to what is there. At most `blocks` blocks are started.
void read_probe(const void* array, std::uint64_t bytes, std::uint32_t* result, int blocks,
                cudaStream_t stream);

/// Stores value, value + 1, ... in `words` words at `payload`, in device or page-locked host
/// memory, and then `epoch` at `flag`, for a host that waits for it; a null `flag` is left out.
void publish(std::uint64_t* payload, int words, std::uint64_t value, std::uint32_t* flag,
             std::uint32_t epoch, cudaStream_t stream);

/// An array in device memory and what is claimed to be its scan.
struct ClaimedScan {
  const void* input;
  const void* output;
  std::uint64_t elements;
  ElementType input_type;
  ElementType output_type;
  ScanOperation operation;
  bool exclusive;
};

/// Counts the places that do not follow from the place before them (the first: from nothing), once
/// what `stream` holds is done. None means, by induction, that the whole scan is right, where the
/// operation is exact: for integers, extrema, and floats whose partial sums are integers within
/// their significand. Exclusive extrema are not to be requested. Throws Error for type pairs other
/// than one type of 8 to 64 bits but f16 and bf16, or an integer and a wider one.
std::uint64_t scan_mismatches(const ClaimedScan& scan, cudaStream_t stream);

/// Returns the greatest distance, in units in the last place, of two elements at the same place of
/// arrays of f32 or f64, once what `stream` holds is done.
std::uint64_t max_distance(const void* a, const void* b, std::uint64_t elements, ElementType type,
                           cudaStream_t stream);

}  // namespace warpfold::bench::kernels
