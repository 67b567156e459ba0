#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/values/byte_order.hpp"
#include "cuda/primitives/async_copy.cuh"
#include "cuda/primitives/bulk_copy.cuh"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/warp.cuh"
#include "cuda/scan/exact_shape.cuh"
#include "cuda/scan/row_copy.cuh"

namespace warpfold::cuda::kernels {

template <class Bits>
__device__ uint4 with_bytes_swapped(uint4 vector) {
  if constexpr (sizeof(Bits) == 8)
    return {byte_swapped(vector.y), byte_swapped(vector.x), byte_swapped(vector.w),
            byte_swapped(vector.z)};
  else if constexpr (sizeof(Bits) == 4)
    return {byte_swapped(vector.x), byte_swapped(vector.y), byte_swapped(vector.z),
            byte_swapped(vector.w)};
  else
    return {__byte_perm(vector.x, 0, 0x2301), __byte_perm(vector.y, 0, 0x2301),
            __byte_perm(vector.z, 0, 0x2301), __byte_perm(vector.w, 0, 0x2301)};
}

/// Between the array and the slots of a warp's segments. By the whole warp.
template <class In, class Out>
class SegmentPort {
 public:
  using Shape = ExactShape<In, Out>;

  __device__ explicit SegmentPort(const ScannedArray& array)
      : array_(array), memory_(TileMemory<Shape>::own().segment[warp::index()]) {}

  /// Before the first call of fetch().
  __device__ void begin() {
    if (warp::lane() == 0 && array_.input_in_rows) {
      for (Mbarrier& each : memory_.arrived) each.initialize(1);
      fence_mbarrier_initialization();
    }
    __syncwarp();
  }

  /// Begins to read the segment of a round's tile, if there is one, when its slot has been written.
  __device__ void fetch(std::uint32_t round, std::uint32_t tile) {
    if (tile < array_.tiles) {
      if (array_.input_in_rows && is_whole(tile)) {
        if (warp::lane() == 0) copy_rows(round, tile);
      } else {
        finish();
        load(round, tile);
        if (array_.input_in_rows && warp::lane() == 0) arrived(round).arrive();
      }
    }
    commit_copies();
  }

  /// Waits for what the last call of fetch() but one reads.
  __device__ void arrive(std::uint32_t round) {
    if (array_.input_in_rows)
      arrived(round).wait(round / exact_slots % 2);
    else
      wait_for_copies<1>();
    swap_bytes(round);
  }

  /// Replaces what is in the slot by what was read there.
  __device__ void read_again(std::uint32_t round, std::uint32_t tile) {
    __syncwarp();
    load(round, tile);
    commit_copies();
    wait_for_copies<0>();
    swap_bytes(round);
  }

  /// Multiplies the slot's elements by 2^-scaled_by, unless that would round some; returns by which
  /// exponent they are less.
  __device__ int scale(std::uint32_t slot) {
    if constexpr (std::is_same_v<In, double>) {
      bool exact = true;
#pragma unroll 1
      for (int i = 0; i < Shape::in_vectors; ++i) {
        const auto pair = std::bit_cast<LaneElements<double, 2>>(memory_.slot[slot].of_warp(i));
        for (const double each : pair.element)
          exact = exact && (each == 0.0 || magnitude_word(each) >= power_word(-800));
      }
      if (!warp::all(exact)) return 0;
#pragma unroll 1
      for (int i = 0; i < Shape::in_vectors; ++i) {
        auto pair = std::bit_cast<LaneElements<double, 2>>(memory_.slot[slot].of_warp(i));
        for (double& each : pair.element) each *= 0x1p-128;
        memory_.slot[slot].of_warp(i) = packed(pair);
      }
      __syncwarp();
      return scaled_by;
    }
    return 0;
  }

  /// Begins to write what is in the slot to the segment of the round's tile.
  __device__ void store(std::uint32_t round, std::uint32_t tile) const {
    WarpVectors<Shape::vectors>& slot = memory_.slot[round % exact_slots];
    const std::uint64_t place = segment_place(tile);
    OutBits* const own =
        static_cast<OutBits*>(array_.output) + place + vector_place<Shape::out_count>(0);
    if (array_.output_in_rows) {
      fence_shared_writes();
      __syncwarp();
    }
    if (array_.output_in_rows && is_whole(tile)) {
      if (warp::lane() == 0) {
        copy_rows_to_global(array_.output_rows, place * sizeof(Out) / row_bytes, &slot);
        commit_bulk_copies();
      }
    } else if (is_whole(tile)) {
#pragma unroll
      for (int i = 0; i < Shape::out_vectors; ++i)
        store_vector(own + i * warp::lanes * Shape::out_count, prefixes_of(slot, i));
    } else {
#pragma unroll 1
      for (int i = 0; i < Shape::out_vectors; ++i)
        store_lane(own + i * warp::lanes * Shape::out_count,
                   place + vector_place<Shape::out_count>(i), prefixes_of(slot, i));
    }
    __syncwarp();
  }

  /// Waits until all slots have been written to the array, as far as they have to be kept.
  __device__ void finish() const {
    if (array_.output_in_rows && warp::lane() == 0) wait_for_bulk_reads();
    __syncwarp();
  }

 private:
  using InBits = typename Shape::InBits;
  using OutBits = typename Shape::OutBits;

  template <int Count>
  __device__ static std::uint32_t vector_place(int i) {
    return static_cast<std::uint32_t>((i * warp::lanes + warp::lane()) * Count);
  }

  __device__ Mbarrier& arrived(std::uint32_t round) const {
    return memory_.arrived[round % exact_slots];
  }

  /// By one lane.
  __device__ void copy_rows(std::uint32_t round, std::uint32_t tile) const {
    constexpr std::uint32_t bytes = Shape::in_vectors * warp::lanes * sizeof(uint4);
    if (array_.output_in_rows) wait_for_bulk_reads();
    arrived(round).arrive_and_expect(bytes);
    copy_rows_to_shared(&memory_.slot[round % exact_slots], array_.input_rows,
                        segment_place(tile) * sizeof(In) / row_bytes, arrived(round));
  }

  __device__ void swap_bytes(std::uint32_t round) const {
    if (array_.swapped) {
#pragma unroll 1
      for (int i = 0; i < Shape::in_vectors; ++i) {
        uint4& vector = memory_.slot[round % exact_slots].of_warp(i);
        vector = with_bytes_swapped<InBits>(vector);
      }
    }
    __syncwarp();
  }

  __device__ const InBits* input() const { return static_cast<const InBits*>(array_.input); }

  /// Says where in the array the warp's segment begins.
  __device__ static std::uint64_t segment_place(std::uint32_t tile) {
    return (std::uint64_t{tile} * static_cast<unsigned>(segment_warps()) +
            static_cast<unsigned>(warp::index())) *
           Shape::segment_elements;
  }

  /// Whether all elements of a tile exist.
  __device__ bool is_whole(std::uint32_t tile) const {
    return tile >= array_.whole_begin && tile < array_.whole_end;
  }

  __device__ bool exists(std::uint64_t place, unsigned elements) const {
    return place >= array_.first && place + elements <= array_.end;
  }

  __device__ void load(std::uint32_t round, std::uint32_t tile) {
    WarpVectors<Shape::vectors>& slot = memory_.slot[round % exact_slots];
    const std::uint64_t place = segment_place(tile);
    if (array_.input_aligned && is_whole(tile)) {
      const InBits* const own = input() + place + vector_place<Shape::in_count>(0);
#pragma unroll
      for (int i = 0; i < Shape::in_vectors; ++i)
        copy_async(&slot.of_warp(i), own + i * warp::lanes * Shape::in_count);
    } else {
#pragma unroll 1
      for (int i = 0; i < Shape::in_vectors; ++i)
        slot.of_warp(i) = load_lane(place + vector_place<Shape::in_count>(i));
    }
  }

  __device__ uint4 load_lane(std::uint64_t place) const {
    constexpr int margin = shift_margin<InBits>;
    const InBits* const elements = input() + place;
    if (array_.input_aligned && exists(place, Shape::in_count))
      return load_vector<InBits, Shape::in_count>(elements);
    if (place >= array_.first + margin && exists(place, Shape::in_count + margin))
      return load_shifted<InBits, Shape::in_count>(elements);
    return load_existing<InBits, Shape::in_count>(elements, InBits{0}, [this, place](int k) {
      return exists(place + static_cast<unsigned>(k), 1);
    });
  }

  __device__ static LaneElements<OutBits, Shape::out_count> prefixes_of(
      WarpVectors<Shape::vectors>& slot, int i) {
    return std::bit_cast<LaneElements<OutBits, Shape::out_count>>(slot.of_warp(i));
  }

  __device__ void store_lane(OutBits* to, std::uint64_t place,
                             const LaneElements<OutBits, Shape::out_count>& prefixes) const {
#pragma unroll
    for (int k = 0; k < Shape::out_count; ++k)
      if (exists(place + static_cast<unsigned>(k), 1)) to[k] = prefixes.element[k];
  }

  const ScannedArray& array_;
  SegmentMemory<Shape::vectors>& memory_;
};

}  // namespace warpfold::cuda::kernels
