#pragma once

#include <cstdint>

#include "core/layout/partition.hpp"
#include "cuda/labels/label_table.hpp"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

inline constexpr int label_threads = 256;

/// One warp's way to add up what neighbouring elements of the same label have, before it goes to
/// `add(label, part)`, which single lanes call. Parts are added in any order.
template <class Part, class Add>
class LabelRuns {
 public:
  __device__ explicit LabelRuns(Add add) : add_(add) {}

  /// Takes a part of each lane; those of no_label are lost. By all lanes.
  __device__ void take(std::uint32_t label, const Part& part) {
    if (warp::all(label == label_)) {
      run_.add(part);
      runs_ = true;
      return;
    }
    flush();
    const std::uint32_t below = warp::shuffle_up(label, 1);
    const unsigned heads = warp::ballot(warp::lane() == 0 || label != below);
    if (heads == 1) {
      label_ = label;
      run_.add(part);
      runs_ = true;
    } else if (__popc(heads) <= most_scanned) {
      add_scanned(label, part, heads);
    } else if (label != no_label) {
      add_(label, part);
    }
  }

  /// Hands over what there still is. By all lanes.
  __device__ void flush() {
    if (!runs_) return;
    if (label_ != no_label) {
      const Part sum = warp::reduce_xor(run_, Sum{});
      if (warp::lane() == 0) add_(label_, sum);
    }
    run_ = Part::none();
    runs_ = false;
  }

 private:
  /// Runs in a warp from which on each lane adds its part.
  static constexpr int most_scanned = 20;

  struct Sum {
    __device__ Part operator()(Part a, const Part& b) const {
      a.add(b);
      return a;
    }
  };

  /// Adds up runs of lanes; the last lane of each hands over its sum.
  __device__ void add_scanned(std::uint32_t label, Part part, unsigned heads) {
    const unsigned up_to_lane = warp::all_lanes >> (warp::lanes - 1 - warp::lane());
    const int head = 63 - __clzll(static_cast<long long>(heads & up_to_lane));
#pragma unroll
    for (int delta = 1; delta < warp::lanes; delta *= 2) {
      const Part below = warp::shuffle_up(part, delta);
      if (warp::lane() - delta >= head) part.add(below);
    }
    const bool last = warp::lane() == warp::lanes - 1 || (heads >> (warp::lane() + 1) & 1) != 0;
    if (last && label != no_label) add_(label, part);
  }

  Add add_;
  std::uint32_t label_ = no_label;  ///< that all elements of the run have
  bool runs_ = false;
  Part run_ = Part::none();
};

/// Returns where the number of an element is, less than a tile's elements beyond all of them.
__device__ inline std::uint64_t wrapped(const LabelSlab& slab, std::uint64_t place) {
  if (place < slab.places) return place;
  return slab.places >= label_tile ? place - slab.places : place % slab.places;
}

/// Calls row(element, label, counts, place) for the rows of a tile, an element a lane: in places
/// beyond the slab with no_label. Where an element doesn't count, `counts` is false.
template <class Element, class Row>
__device__ void for_each_row(const LabelSlab& slab, std::uint64_t tile, Row&& row) {
  constexpr int loaded_rows = 4;
  constexpr int loaded = loaded_rows * warp::lanes;
  constexpr auto size = static_cast<std::int64_t>(label_tile);
  std::uint64_t place = slab.begin + tile * label_tile;
  const std::uint64_t first_number = place % slab.places;
  const bool wraps = first_number + label_tile > slab.places;
  const std::uint32_t* numbers = slab.numbers + first_number + warp::lane();
  place += static_cast<unsigned>(warp::lane());
  const auto* elements = reinterpret_cast<const Element*>(slab.elements) + place;
  const auto ahead = static_cast<std::int64_t>(slab.end - place);
  int left = static_cast<int>(ahead < size ? ahead : size);
#pragma unroll 1
  for (int begin = 0; begin < size; begin += loaded) {
    Element element[loaded_rows];
    std::uint32_t label[loaded_rows];
    bool counts[loaded_rows];
    const auto for_rows = [&](auto&& body) {
#pragma unroll
      for (int r = 0; r < loaded_rows; ++r) body(r, r * warp::lanes, r * warp::lanes < left);
    };
    for_rows(
        [&](int r, int i, bool inside) { element[r] = inside ? __ldcs(elements + i) : Element{}; });
    if (wraps)
      for_rows([&](int r, int i, bool inside) {
        const auto number = static_cast<std::uint64_t>(numbers - slab.numbers + i);
        label[r] = inside ? __ldg(slab.numbers + wrapped(slab, number)) : no_label;
      });
    else
      for_rows(
          [&](int r, int i, bool inside) { label[r] = inside ? __ldg(numbers + i) : no_label; });
    for_rows([&](int r, int i, bool inside) {
      counts[r] = inside && (slab.counting == nullptr || slab.counting[place + i]);
    });
    for_rows([&](int r, int i, bool) { row(element[r], label[r], counts[r], place + i); });
    elements += loaded;
    numbers += loaded;
    place += loaded;
    left -= loaded;
  }
}

__device__ inline std::uint64_t tiles_of(const LabelSlab& slab) {
  return (slab.end - slab.begin + label_tile - 1) / label_tile;
}

/// Calls body(tile) for this warp's tiles, which lie one behind another.
template <class Body>
__device__ void for_each_tile(const LabelSlab& slab, Body&& body) {
  constexpr unsigned block_warps = label_threads / warp::lanes;
  const std::uint64_t tiles = tiles_of(slab);
  const std::uint64_t warps = std::uint64_t{gridDim.x} * block_warps;
  const std::uint64_t share = (tiles + warps - 1) / warps;
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * block_warps + threadIdx.x / warp::lanes;
  const std::uint64_t begin = warp * share;
  const std::uint64_t end = begin + share < tiles ? begin + share : tiles;
  for (std::uint64_t tile = begin; tile < end; ++tile) body(tile);
}

}  // namespace warpfold::cuda::kernels
