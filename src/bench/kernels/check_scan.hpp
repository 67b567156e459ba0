#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_spec.hpp"

namespace warpfold::bench::kernels {

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

/// Adds to `*mismatches`, in device memory, the number of places that do not follow from the place
/// before them (the first: from nothing). None means, by induction, that the whole scan is right,
/// where the operation is exact: for integers, extrema, and floats whose partial sums are integers
/// within their significand. Exclusive extrema are not to be asked for. Throws Error for type pairs
/// other than one type of 8 to 64 bits but f16 and bf16, or an integer and a wider one.
void count_scan_mismatches(const ClaimedScan& scan, std::uint64_t* mismatches, cudaStream_t stream);

/// Raises `*distance`, in device memory, to the greatest distance of two elements at the same place
/// in units in the last place. Elements are f32 or f64.
void greatest_distance(const void* a, const void* b, std::uint64_t elements, ElementType type,
                       std::uint64_t* distance, cudaStream_t stream);

}  // namespace warpfold::bench::kernels
