#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "core/results/accumulator.hpp"
#include "cuda/reduce/reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Device memory that launches, one at a time, reduce into.
class ReduceState {
 public:
  ReduceState() = default;

  /// Empty totals, for launches of up to `blocks` thread blocks.
  explicit ReduceState(int blocks);

  static std::uint64_t bytes(int blocks) {
    return sizeof(kernels::ReduceTotals) + extrema_bytes(blocks);
  }

  int blocks() const { return blocks_; }
  kernels::ReduceTotals* totals() const {
    return reinterpret_cast<kernels::ReduceTotals*>(totals_.data());
  }
  kernels::BlockExtrema* block_extrema() const {
    return reinterpret_cast<kernels::BlockExtrema*>(block_extrema_.data());
  }

 private:
  static std::uint64_t extrema_bytes(int blocks) {
    return static_cast<std::uint64_t>(blocks) * sizeof(kernels::BlockExtrema);
  }

  int blocks_ = 0;
  DeviceBuffer totals_;
  DeviceBuffer block_extrema_;
};

/// `total` without what a reduction may have filled beyond its needs.
Accumulator needed_parts(const Accumulator& total, const ReduceNeeds& needs);

/// Reduces arrays that are in the memory of one device, the current one when it was made and
/// whenever it is used. One reduction at a time.
class DeviceReduce {
 public:
  DeviceReduce();
  ~DeviceReduce();
  DeviceReduce(const DeviceReduce&) = delete;
  DeviceReduce& operator=(const DeviceReduce&) = delete;

  /// Starts the reduction of `count` elements at `elements`, aligned to their size, the first of
  /// which has flat index `first_index`; behind what `stream` holds.
  void start(const void* elements, std::uint64_t count, ElementFormat format, ReduceNeeds needs,
             std::uint64_t first_index, cudaStream_t stream);

  /// Waits for the reduction that was started; normalized. Once for each start(), while its stream
  /// exists.
  Accumulator result();

 private:
  int resident_blocks(ElementType type, const ReduceNeeds& needs);
  void next_epoch();
  void clear_published();
  std::optional<std::uint64_t> published_word(std::size_t i) const;
  std::uint64_t awaited_word(std::size_t i);

  static constexpr std::size_t kinds_of_needs = 16;

  int multiprocessors_;
  /// The device's blocks, by element type and needs; 0 where not requested yet.
  std::array<std::array<int, kinds_of_needs>, std::size(all_element_types)> resident_blocks_{};
  bool under_way_ = false;
  ReduceNeeds needs_;
  cudaStream_t stream_ = nullptr;
  std::uint32_t epoch_ = 0;  ///< epoch of the last reduction
  ReduceState state_;
  DeviceBuffer collected_;  ///< totals that few blocks publish for the last one
  MappedValue<kernels::PublishedReduce> published_;
};

}  // namespace warpfold::cuda
