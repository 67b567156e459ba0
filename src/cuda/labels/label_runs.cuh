#pragma once

#include <cstdint>

#include "core/layout/partition.hpp"
#include "cuda/labels/label_table.hpp"
#include "cuda/primitives/warp.cuh"

namespace warpfold::cuda::kernels {

inline constexpr int label_threads = 256;

/// The elements of a row, one for each lane, as they come in a tile.
inline constexpr int tile_rows = static_cast<int>(label_tile) / warp::lanes;

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
    label_ = warp::shuffle(label, warp::lanes - 1);
    if (heads == 1) {
      run_ = part;
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

/// Calls row(element, label, place) for the rows of a tile, by all lanes: in places beyond the slab
/// with no_label. Where an element doesn't count, `counts` is false.
template <class Element, class Row>
__device__ void for_each_row(const LabelSlab& slab, std::uint64_t tile, Row&& row) {
  constexpr int loaded_rows = 4;
  const auto* elements = reinterpret_cast<const Element*>(slab.elements);
  const std::uint64_t first = slab.begin + tile * label_tile;
  const std::uint64_t first_number = first % slab.places;
  for (int part = 0; part < tile_rows; part += loaded_rows) {
    Element element[loaded_rows];
    std::uint32_t label[loaded_rows];
    bool counts[loaded_rows];
#pragma unroll
    for (int r = 0; r < loaded_rows; ++r) {
      const auto offset = static_cast<unsigned>((part + r) * warp::lanes + warp::lane());
      const std::uint64_t place = first + offset;
      const bool inside = place < slab.end;
      std::uint64_t number = first_number + offset;
      if (number >= slab.places)
        number = slab.places >= label_tile ? number - slab.places : number % slab.places;
      element[r] = inside ? __ldcs(elements + place) : Element{};
      label[r] = inside ? __ldg(slab.numbers + number) : no_label;
      counts[r] = inside && (slab.counting == nullptr || slab.counting[place]);
    }
#pragma unroll
    for (int r = 0; r < loaded_rows; ++r) {
      const auto offset = static_cast<unsigned>((part + r) * warp::lanes + warp::lane());
      row(element[r], label[r], counts[r], first + offset);
    }
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
