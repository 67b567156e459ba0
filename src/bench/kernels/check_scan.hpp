#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

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

/// Counts the places that do not follow from the place before them (the first: from nothing), once
/// what `stream` holds is done. None means, by induction, that the whole scan is right, where the
/// operation is exact: for integers, extrema, and floats whose partial sums are integers within
/// their significand. Exclusive extrema are not to be asked for. Throws Error for type pairs other
/// than one type of 8 to 64 bits but f16 and bf16, or an integer and a wider one.
std::uint64_t scan_mismatches(const ClaimedScan& scan, cudaStream_t stream);

/// Returns the greatest distance, in units in the last place, of two elements at the same place of
/// arrays of f32 or f64, once what `stream` holds is done.
std::uint64_t max_distance(const void* a, const void* b, std::uint64_t elements, ElementType type,
                           cudaStream_t stream);

}  // namespace warpfold::bench::kernels
