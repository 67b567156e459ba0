#pragma once

#include <bit>
#include <cstdint>

#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/row_copy.cuh"
#include "cuda/exact_scan/shared_memory.cuh"
#include "cuda/primitives/async_copy.cuh"
#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

/// Waits until the slots of the warp may be overwritten: all that was stored has been read.
__device__ inline void wait_for_stores(const ScannedArray& array) {
  if (array.output_in_rows && warp::lane() == 0) wait_for_bulk_reads();
  __syncwarp();
}

/// The loader: brings segments of the array to the slots of their warp. By the whole warp.
template <class In, class Out>
class SegmentLoader {
 public:
  using Layout = SegmentLayout<In, Out>;

  __device__ explicit SegmentLoader(const ScannedArray& array)
      : array_(array), memory_(BlockMemoryOf<Layout>::own().segment[warp::index()]) {}

  /// To be called before the first start().
  __device__ void initialize() {
    if (warp::lane() == 0 && array_.input_in_rows) {
      for (Mbarrier& each : memory_.loaded) each.initialize(1);
      fence_mbarrier_initialization();
    }
    __syncwarp();
  }

  /// Begins to load the segment of a round's tile, if there is one, when its slot has been stored.
  __device__ void start(std::uint32_t round, std::uint32_t tile) {
    store_held(round - 1);
    if (tile < array_.tiles) {
      if (array_.input_in_rows && array_.is_whole(tile)) {
        if (warp::lane() == 0) load_rows(round, tile);
      } else if (!has_async_copies && array_.input_aligned && array_.is_whole(tile)) {
        hold(tile);
      } else {
        wait_for_stores(array_);
        load_by_lanes(round, tile);
        if (array_.input_in_rows) arrive_when_loaded(round);
      }
    }
    commit_copies();
  }

  /// Waits for what the last start() but one loads.
  __device__ void finish(std::uint32_t round) {
    if (array_.input_in_rows)
      loaded(round).wait(round / slot_rounds % 2);
    else
      wait_for_copies<1>();
    swap_bytes(round);
  }

  /// Loads a segment whose slot has been overwritten.
  __device__ void reload(std::uint32_t round, std::uint32_t tile) {
    __syncwarp();
    load_by_lanes(round, tile);
    commit_copies();
    wait_for_copies<0>();
    swap_bytes(round);
  }

 private:
  using InBits = typename Layout::InBits;

  __device__ Mbarrier& loaded(std::uint32_t round) const {
    return memory_.loaded[round % slot_rounds];
  }

  /// Starts the copy of a tile's rows. Called by one lane.
  __device__ void load_rows(std::uint32_t round, std::uint32_t tile) const {
    constexpr std::uint32_t bytes = Layout::in_vectors * warp::lanes * sizeof(uint4);
    if (array_.output_in_rows) wait_for_bulk_reads();
    loaded(round).arrive_and_expect(bytes);
    copy_rows_to_shared(&memory_.slot[round % slot_rounds], array_.input_rows,
                        segment_place<Layout>(tile) * sizeof(In) / row_bytes, loaded(round));
  }

  /// Loads a whole segment into registers: the loads go on until store_held().
  __device__ void hold(std::uint32_t tile) {
    const InBits* const own =
        input() + segment_place<Layout>(tile) + vector_place<Layout::in_count>(0);
#pragma unroll
    for (int i = 0; i < Layout::in_vectors; ++i)
      held_[i] = load_vector<InBits, Layout::in_count>(own + i * warp::lanes * Layout::in_count);
    holds_ = true;
  }

  /// Moves the segment in registers, if there is one, to the slot of its round.
  __device__ void store_held(std::uint32_t round) {
    if (!has_async_copies && holds_) {
#pragma unroll
      for (int i = 0; i < Layout::in_vectors; ++i)
        memory_.slot[round % slot_rounds].striped(i) = held_[i];
      holds_ = false;
    }
  }

  /// Ends the phase of a slot that lanes load.
  __device__ void arrive_when_loaded(std::uint32_t round) const {
    commit_copies();
    wait_for_copies<0>();
    __syncwarp();
    if (warp::lane() == 0) loaded(round).arrive();
  }

  __device__ void swap_bytes(std::uint32_t round) const {
    if (array_.swapped) {
#pragma unroll 1
      for (int i = 0; i < Layout::in_vectors; ++i) {
        uint4& vector = memory_.slot[round % slot_rounds].striped(i);
        vector = swapped_elements<InBits>(vector);
      }
    }
    __syncwarp();
  }

  __device__ const InBits* input() const { return static_cast<const InBits*>(array_.input); }

  __device__ void load_by_lanes(std::uint32_t round, std::uint32_t tile) {
    Slot<Layout::vectors>& slot = memory_.slot[round % slot_rounds];
    const std::uint64_t place = segment_place<Layout>(tile);
    if (array_.input_aligned && array_.is_whole(tile)) {
      const InBits* const own = input() + place + vector_place<Layout::in_count>(0);
#pragma unroll
      for (int i = 0; i < Layout::in_vectors; ++i)
        copy_async(&slot.striped(i), own + i * warp::lanes * Layout::in_count);
    } else {
#pragma unroll 1
      for (int i = 0; i < Layout::in_vectors; ++i) {
        const std::uint64_t own = place + vector_place<Layout::in_count>(i);
        if (array_.input_aligned && array_.exists(own, Layout::in_count))
          copy_async(&slot.striped(i), input() + own);
        else
          slot.striped(i) = load_lane(own);
      }
    }
  }

  __device__ uint4 load_lane(std::uint64_t place) const {
    constexpr int margin = shift_margin<InBits>;
    const InBits* const elements = input() + place;
    if (place >= array_.first + margin && array_.exists(place, Layout::in_count + margin))
      return load_shifted<InBits, Layout::in_count>(elements);
    return load_existing<InBits, Layout::in_count>(elements, InBits{0}, [this, place](int k) {
      return array_.exists(place + static_cast<unsigned>(k), 1);
    });
  }

  const ScannedArray& array_;
  SegmentMemory<Layout::vectors>& memory_;
  uint4 held_[Layout::in_vectors];  ///< if holds_: the lane's vectors of the last started segment
  bool holds_ = false;
};

}  // namespace warpfold::cuda::kernels
