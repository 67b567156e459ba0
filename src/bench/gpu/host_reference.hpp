#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/backend.hpp"

/// Exact answers by a host backend for arrays in device memory.
namespace warpfold::bench {

/// Needs of all benchmarks of reductions together.
inline constexpr ReduceNeeds everything{true, false, true, true};

/// Returns the reductions of the first ascending_counts[i] elements of `array`, normalized.
std::vector<Accumulator> prefix_reduces(Backend& host, const void* array, ElementFormat format,
                                        ReduceNeeds needs,
                                        const std::vector<std::uint64_t>& ascending_counts,
                                        cudaStream_t stream);

/// Reproducible scans of the first elements of one array: their first and last prefixes, which the
/// host backend computes from the exact reduction of everything before.
class ScanReference {
 public:
  /// Prepares for scans of ascending_counts[i] elements of `array`, given what precedes it.
  ScanReference(Backend& host, const ScanSpec& spec, const void* array,
                const std::vector<std::uint64_t>& ascending_counts, cudaStream_t stream,
                const Accumulator& before = Accumulator::empty());

  /// Returns whether the prefixes at `output`, in device memory, are the reference's; scan number
  /// `scan`.
  bool agrees(std::size_t scan, const void* output, cudaStream_t stream) const;

 private:
  struct Part {
    std::uint64_t first = 0;
    std::vector<std::byte> prefixes;
  };

  bool agrees(const Part& part, std::size_t bytes, const void* output, cudaStream_t stream) const;

  std::size_t output_bytes_;
  std::vector<std::uint64_t> counts_;
  Part head_;
  std::vector<Part> tails_;  ///< empty parts where the head has them all
};

}  // namespace warpfold::bench
