#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "core/results/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

inline constexpr int reduce_threads = 256;
inline constexpr int max_resident_reduce_blocks = 2048 / reduce_threads;

struct BlockExtrema {
  Extremum minimum;
  Extremum maximum;
};

/// In device memory: what launches leave there, one after the other. Digits of its sums lie within
/// (-2^33, 2^33) between launches, so that a few of them can be added before they are normalized.
struct ReduceTotals {
  Accumulator total;
  std::uint32_t finished_blocks;  ///< finished blocks of the launch under way; 0 between launches

  static ReduceTotals empty() { return {Accumulator::empty(), 0}; }
};

/// A word of 64 bits in two halves. Each is stored together with the reduction's epoch, which makes
/// the order of stores irrelevant.
struct alignas(16) PublishedWord {
  std::uint64_t low;  ///< the lower half; above it the epoch
  std::uint64_t high;

  static constexpr int half = 32;

  WARPFOLD_HD static PublishedWord of(std::uint64_t value, std::uint32_t epoch) {
    const std::uint64_t flag = std::uint64_t{epoch} << half;
    return {flag | (value & 0xffffffffu), flag | value >> half};
  }
  WARPFOLD_HD bool is_of(std::uint32_t epoch) const {
    return low >> half == epoch && high >> half == epoch;
  }
  WARPFOLD_HD std::uint64_t value() const { return high << half | (low & 0xffffffffu); }
};

/// The words of an Accumulator as blocks publish them: to the host in its page-locked memory, to
/// one another in device memory.
struct PublishedReduce {
  PublishedWord word[sizeof(Accumulator) / sizeof(std::uint64_t)];
};

/// Most blocks whose totals the last one collects, without totals in device memory. It waits for
/// blocks of lower numbers, which must not wait for its multiprocessor: blocks start in the order
/// of their numbers.
inline constexpr unsigned max_collected_blocks = 8;

struct ReduceArguments {
  const std::byte* elements;  ///< in device memory, aligned to their size
  std::uint64_t count;
  ElementFormat format;
  ReduceNeeds needs;
  std::uint64_t first_index;    ///< the first element's flat index, or its place among `indices`
  ReduceTotals* totals;         ///< in device memory
  BlockExtrema* block_extrema;  ///< in device memory, one for each block
  int blocks;
  /// Destination of the totals' needed parts, as the device addresses it; the totals are empty
  /// before and afterwards. Null: they stay.
  PublishedReduce* published = nullptr;
  std::uint32_t epoch = 0;
  /// In device memory, if `published`: for max_collected_blocks; words of other epochs are ignored.
  /// Not used by two reductions at the same time.
  PublishedReduce* collected = nullptr;
  const BoxIndices* indices = nullptr;  ///< in device memory; null: they are consecutive
  /// In device memory: how many there are, of elements that were selected of `count` at most; null:
  /// `count`. Such a reduction publishes nothing.
  const std::uint64_t* selected = nullptr;
  const std::uint32_t* places = nullptr;  ///< theirs among the elements they were selected of
};

/// Use of FP64 arithmetic by reductions that work without it, too: on devices that have many units
/// for it, or as tests and measurements want.
enum class Fp64Use : std::uint8_t { by_device, always, never };

/// Sets the use of all reductions to come, as far as their code has both ways.
void set_fp64_use(Fp64Use use);

/// Tells whether reductions on the current device use FP64 arithmetic where they can.
bool uses_fp64();

/// Returns the __CUDA_ARCH__ of the code that the current device runs: 750 or the like. Asks the
/// runtime once for each device; thread-safe.
int code_architecture();

/// Says how many blocks of reduce() one multiprocessor of the current device holds at once: at most
/// max_resident_reduce_blocks.
int resident_reduce_blocks(ElementType type, ReduceNeeds needs = {});

/// Returns how many blocks are worth starting for an array of so many bytes, given how many the
/// device holds at once.
int reduce_blocks(std::uint64_t bytes, int resident_blocks);

/// Parts that a reduction of selected elements always fills. One kernel per type is enough, as
/// selecting the elements takes longer than reducing them.
inline constexpr ReduceNeeds needs_of_selected{true, true, true, true};

/// Adds the elements to the totals. More than is needed may be filled.
void reduce(const ReduceArguments& arguments, cudaStream_t stream);

/// Does what reduce() does for elements of type T.
template <class T>
void reduce_elements(const ReduceArguments& arguments, cudaStream_t stream);

template <class T>
int resident_reduce_blocks_of(const ReduceNeeds& needs);

}  // namespace warpfold::cuda::kernels
