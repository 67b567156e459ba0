#include "cuda/select/select_elements.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "core/values/byte_order.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/scan_lookback.cuh"

// Selected elements are written in one pass: a block counts those of its tile and learns where they
// go from the tiles before it (D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Lookback", 2016). Blocks number their tiles as they start, so that a tile waits for
// none that has not begun.

namespace warpfold::cuda::kernels {
namespace {

constexpr int select_threads = 256;
constexpr int select_blocks = 2;  ///< at least, of a multiprocessor: leaves registers enough
constexpr int select_warps = select_threads / warp::lanes;
constexpr int warp_rows = 16;
constexpr std::uint64_t warp_elements = warp_rows * warp::lanes;
constexpr std::uint64_t tile_elements = select_warps * warp_elements;

using TileCount = PublishedAggregate<std::uint32_t>;

/// In place of an epoch, what a published count is of; 0 where none is published.
constexpr std::uint32_t tile_alone = 1;
constexpr std::uint32_t all_up_to_tile = 2;

/// Zeros before a launch.
struct SelectScratch {
  std::uint64_t tiles_begun;
  TileCount counts[1];  ///< one for each tile
};

struct SelectLaunch {
  StoredElements stored;
  SelectTarget target;
  std::uint32_t tiles;

  __device__ SelectScratch& scratch() const {
    return *reinterpret_cast<SelectScratch*>(target.scratch);
  }
  template <class T>
  __device__ T load(std::uint64_t i) const {
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const Word<T>*>(stored.elements) + i));
  }
  template <class T>
  __device__ T native(T element) const {
    return stored.format.order != native_byte_order ? byte_swapped(element) : element;
  }
};

/// Calls visitor(stored element), value-initialised, of a type that is decoded as `Element`: of its
/// own, or where that is wide of any it holds.
template <class Element, class Visitor>
__device__ void visit_stored(ElementType type, Visitor&& visitor) {
  if constexpr (!std::is_same_v<Element, Wide<Element>>)
    visitor(Element{});
  else
    visit_element_type(type, [&](auto stored) {
      if constexpr (std::is_same_v<Element, Wide<decltype(stored)>>) visitor(stored);
    });
}

/// In shared memory: where the warps of a block write.
struct TilePlaces {
  std::uint32_t tile;
  std::uint32_t before;  ///< selected by the tiles before
  std::uint32_t of_warp[select_warps];
};

/// Counts the elements that the tiles before `tile` select. By a whole warp.
__device__ std::uint32_t selected_before(const TileCount* counts, std::uint32_t tile) {
  const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  std::uint32_t before = 0;
  for (std::int64_t nearest = std::int64_t{tile} - 1;; nearest -= warp::lanes) {
    const std::int64_t index = nearest - warp::lane();
    TileCount count = TileCount::of(0, all_up_to_tile);
    if (index >= 0) {
      do count = load_relaxed(counts + index);
      while (count.is_of(0));
    }
    const unsigned complete = warp::ballot(count.is_of(all_up_to_tile));
    const int last = complete == 0 ? warp::lanes : __ffs(static_cast<int>(complete)) - 1;
    before += warp::reduce_xor(warp::lane() <= last ? count.value() : 0u, plus);
    if (complete != 0) return before;
  }
}

/// Publishes what the tile selects and finds where it writes. By the first warp.
__device__ void place_tile(const SelectLaunch& select, TilePlaces& places) {
  const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  TileCount* const counts = select.scratch().counts;
  const bool is_warp = warp::lane() < select_warps;
  const std::uint32_t all = warp::reduce_xor(is_warp ? places.of_warp[warp::lane()] : 0u, plus);
  if (warp::lane() == 0 && places.tile != 0)
    store_relaxed(counts + places.tile, TileCount::of(all, tile_alone));
  const std::uint32_t before = selected_before(counts, places.tile);
  if (warp::lane() != 0) return;
  store_relaxed(counts + places.tile, TileCount::of(before + all, all_up_to_tile));
  places.before = before;
  if (places.tile == select.tiles - 1) *select.target.count = std::uint64_t{before} + all;
}

/// Returns where the warp's first selected element goes. By all threads of the block.
__device__ std::uint32_t first_target(const SelectLaunch& select, std::uint32_t warp_selects,
                                      TilePlaces& places) {
  if (warp::lane() == 0) places.of_warp[warp::index()] = warp_selects;
  __syncthreads();
  if (warp::index() == 0) place_tile(select, places);
  __syncthreads();
  std::uint32_t first = places.before;
  for (int other = 0; other < warp::index(); ++other) first += places.of_warp[other];
  return first;
}

/// A warp's part of a tile: rows of as many elements as there are lanes.
template <class Element, class Value>
class WarpRows {
 public:
  __device__ WarpRows(const SelectLaunch& select, std::uint32_t tile)
      : select_(select),
        first_(tile * tile_elements + static_cast<unsigned>(warp::index()) * warp_elements +
               static_cast<unsigned>(warp::lane())) {}

  /// Returns how many are selected. No load waits for what is done with another's element.
  __device__ std::uint32_t decode_all() {
    Element element[warp_rows];
    visit_stored<Element>(select_.stored.format.type,
                          [&](auto stored) { load_all(stored, element); });
    const unsigned masked = masked_rows();
    std::uint32_t selects = 0;
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      const bool counts = decode<Value>(select_.stored.decoding, element[row], value_[row]);
      selected_[row] =
          warp::ballot(counts && place(row) < select_.stored.count && (masked >> row & 1) == 0);
      selects += static_cast<unsigned>(__popc(selected_[row]));
    }
    return selects;
  }

  /// Writes the selected ones to `next` and on.
  __device__ void write(std::uint32_t next) const {
    auto* const values = reinterpret_cast<Value*>(select_.target.values);
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      if ((selected_[row] >> warp::lane() & 1) != 0) {
        const std::uint32_t to = next + warp::rank_among(selected_[row]);
        values[to] = value_[row];
        if (select_.target.places != nullptr)
          select_.target.places[to] = static_cast<std::uint32_t>(place(row));
      }
      next += static_cast<unsigned>(__popc(selected_[row]));
    }
  }

 private:
  __device__ std::uint64_t place(int row) const {
    return first_ + static_cast<unsigned>(row * warp::lanes);
  }

  template <class Stored>
  __device__ void load_all(Stored, Element (&element)[warp_rows]) const {
    Stored stored[warp_rows];
#pragma unroll
    for (int row = 0; row < warp_rows; ++row)
      stored[row] = place(row) < select_.stored.count ? select_.load<Stored>(place(row)) : Stored{};
#pragma unroll
    for (int row = 0; row < warp_rows; ++row) {
      const Stored native = select_.native(stored[row]);
      if constexpr (std::is_same_v<Stored, Element>)
        element[row] = native;
      else
        element[row] = converted<Element>(native);
    }
  }

  /// The rows in which a mask leaves out this lane's element, a bit each. Rolled up: indices of
  /// boxes are divisions, which sixteen times would be most of the kernel's code.
  __device__ unsigned masked_rows() const {
    unsigned masked = 0;
    const Mask& mask = select_.stored.decoding.mask;
    if (mask.selects_all()) return masked;
#pragma unroll 1
    for (int row = 0; row < warp_rows; ++row)
      if (place(row) < select_.stored.count && !mask.selects(select_.stored.indices(place(row))))
        masked |= 1u << row;
    return masked;
  }

  const SelectLaunch& select_;
  std::uint64_t first_;
  Value value_[warp_rows];
  unsigned selected_[warp_rows];  ///< lanes
};

template <class Element, class Value>
__global__ void __launch_bounds__(select_threads, select_blocks)
    select_kernel(const __grid_constant__ SelectLaunch select) {
  __shared__ TilePlaces places;
  if (threadIdx.x == 0)
    places.tile = static_cast<std::uint32_t>(
        atomicAdd(reinterpret_cast<unsigned long long*>(&select.scratch().tiles_begun), 1ull));
  __syncthreads();
  WarpRows<Element, Value> rows(select, places.tile);
  rows.write(first_target(select, rows.decode_all(), places));
}

/// Calls visitor(element, value), both value-initialised: what stored elements are decoded as, and
/// to. Those that are unpacked are wide, as few kernels do for these then.
template <class Visitor>
void visit_decoding(const StoredElements& stored, Visitor&& visitor) {
  const Unpacking& unpacking = stored.decoding.unpacking;
  visit_kernel_type(stored.format.type, [&](auto element) {
    using Element = decltype(element);
    if (!unpacking.active) return visitor(Element{}, Element{});
    visit_value_of<Wide<Element>>(unpacking, [&](auto value) { visitor(Wide<Element>{}, value); });
  });
}

}  // namespace

std::uint64_t select_scratch_bytes(std::uint64_t elements) {
  return offsetof(SelectScratch, counts) + ceil_div(elements, tile_elements) * sizeof(TileCount);
}

void select_elements(const StoredElements& stored, const SelectTarget& target,
                     cudaStream_t stream) {
  if (stored.count == 0) {
    visit_decoding(stored, [](auto element, auto value) {
      load_kernel(select_kernel<decltype(element), decltype(value)>);
    });
    return fill_bytes(target.count, 0, sizeof(*target.count), stream);
  }
  fill_bytes(target.scratch, 0, select_scratch_bytes(stored.count), stream);
  visit_decoding(stored, [&](auto element, auto value) {
    const auto tiles = static_cast<std::uint32_t>(ceil_div(stored.count, tile_elements));
    launch("starting to select elements on the GPU",
           select_kernel<decltype(element), decltype(value)>, {tiles, select_threads, stream},
           SelectLaunch{stored, target, tiles});
  });
}

}  // namespace warpfold::cuda::kernels

namespace warpfold::cuda {
namespace {

kernels::SelectTarget target_in(Scratch& memory, const SelectRule& rule, std::uint64_t elements) {
  kernels::SelectTarget target;
  target.values = memory.take<std::byte>(elements * size_of(rule.value_format().type));
  if (rule.places) target.places = memory.take<std::uint32_t>(elements);
  target.count = memory.take<std::uint64_t>(1);
  target.scratch = memory.take<std::byte>(kernels::select_scratch_bytes(elements));
  return target;
}

}  // namespace

SelectedElements::SelectedElements(const SelectRule& rule, std::uint64_t elements)
    : rule_(rule), memory_(bytes(rule, elements)) {
  Scratch memory(memory_.data());
  target_ = target_in(memory, rule, elements);
}

std::uint64_t SelectedElements::bytes(const SelectRule& rule, std::uint64_t elements) {
  Scratch memory;
  target_in(memory, rule, elements);
  return memory.bytes();
}

void SelectedElements::select(const std::byte* elements, std::uint64_t count,
                              const BoxIndices& indices, cudaStream_t stream) const {
  kernels::select_elements({elements, count, rule_.format, rule_.decoding, indices}, target_,
                           stream);
}

}  // namespace warpfold::cuda
