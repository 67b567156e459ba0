#include <type_traits>

#include "core/values/ordered_key.hpp"
#include "cuda/labels/label_cache.cuh"
#include "cuda/labels/label_launch.cuh"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr LabelWork extrema_work{"preparing extrema of labels for this GPU",
                                 "looking for extrema of labels on the GPU"};

constexpr int extrema_blocks = 4;  ///< at least, of a multiprocessor: leaves registers enough

using Word64 = unsigned long long;

/// The least keys of some elements: of the minimum, and complements of the maximum.
template <class Key>
struct LeastKeys {
  static constexpr Key no_key = ~Key{0};

  Key key[2];

  __device__ static LeastKeys none() { return {{no_key, no_key}}; }
  template <class Element>
  __device__ static LeastKeys of(Element element) {
    const Key key = dense_key(element);
    return {{key, ~key}};
  }
  __device__ void add(const LeastKeys& other) {
    key[0] = min(key[0], other.key[0]);
    key[1] = min(key[1], other.key[1]);
  }
  __device__ bool seen() const { return key[0] != no_key || key[1] != no_key; }
};

/// The type of an element's key, of its size: only 32-bit atomics are native in shared memory.
template <class Element>
using KeyOf = std::conditional_t<sizeof(Element) == sizeof(std::uint32_t), std::uint32_t, Word64>;

template <class Element>
__device__ bool has_key(Element element, bool counts) {
  return counts && !LabelElement(element).is_nan();
}

/// Reads what others may be lowering: a value that was right a while ago is greater.
template <class Key>
__device__ Key present(const Key* key) {
  return *static_cast<const volatile Key*>(key);
}

/// Keys of labels in shared memory.
template <class Key>
struct KeyCache {
  LabelPlaces places;
  Key key[2][LabelPlaces::count];

  __device__ void clear() {
    places.clear();
    for (unsigned i = threadIdx.x; i < LabelPlaces::count; i += label_threads)
      key[0][i] = key[1][i] = LeastKeys<Key>::no_key;
  }
};

/// One block's keys on their way to those of the labels.
template <class Key>
class KeyMerger {
 public:
  __device__ KeyMerger(const LabelTable& table, KeyCache<Key>& cache, unsigned copies)
      : table_(table), cache_(cache), copies_(copies) {}

  /// Returns whether an element of these may be an extremum.
  __device__ bool merge(std::uint32_t label, const LeastKeys<Key>& least) {
    if (!least.seen()) return false;
    const unsigned place = cache_.places.find(label, copies_);
    bool may_be = false;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (place != LabelPlaces::none) {
        if (least.key[k] > present(cache_.key[k] + place)) continue;
        atomicMin(cache_.key[k] + place, least.key[k]);
        may_be |= least.key[k] <= present(table_.keys[k] + label);
      } else {
        may_be |= lower(k, label, least.key[k]);
      }
    }
    return may_be;
  }

  __device__ void flush() {
    for (unsigned i = threadIdx.x; i < LabelPlaces::count; i += label_threads) {
      const std::uint32_t label = cache_.places.owner[i];
      if (label == no_label) continue;
      lower(0, label, cache_.key[0][i]);
      lower(1, label, cache_.key[1][i]);
    }
  }

 private:
  /// Lowers a label's key, whose place is then that of another element. Returns whether the key is
  /// the least one so far.
  __device__ bool lower(int k, std::uint32_t label, Word64 key) {
    const Word64 before = present(table_.keys[k] + label);
    if (key < before && atomicMin(table_.keys[k] + label, key) > key)
      table_.places[k][label] = ~Word64{0};
    return key <= before;
  }

  const LabelTable& table_;
  KeyCache<Key>& cache_;
  unsigned copies_;
};

/// Lowers the labels' keys, and marks the tiles that may have elements of these.
template <class Element>
__global__ void __launch_bounds__(label_threads, extrema_blocks)
    find_keys_kernel(const __grid_constant__ LabelTable table,
                     const __grid_constant__ LabelSlab slab) {
  using Keys = LeastKeys<KeyOf<Element>>;
  __shared__ KeyCache<KeyOf<Element>> cache;
  cache.clear();
  __syncthreads();
  KeyMerger merger(table, cache, LabelPlaces::copies(slab.labels));
  bool may_be = false;
  const auto merge = [&](std::uint32_t label, const Keys& least) {
    may_be |= merger.merge(label, least);
  };
  for_each_tile(slab, [&](std::uint64_t tile) {
    may_be = false;
    LabelRuns<Keys, decltype(merge)> runs(merge);
    for_each_row<Element>(
        slab, tile, [&](Element element, std::uint32_t label, bool counts, std::uint64_t) {
          runs.take(label, has_key(element, counts) ? Keys::of(element) : Keys::none());
        });
    runs.flush();
    const bool marked = warp::any(may_be);
    if (warp::lane() == 0) table.marks[tile] = marked;
  });
  __syncthreads();
  merger.flush();
}

/// Finds the first places of the labels' keys in marked tiles.
template <class Element>
__global__ void __launch_bounds__(label_threads, extrema_blocks)
    find_places_kernel(const __grid_constant__ LabelTable table,
                       const __grid_constant__ LabelSlab slab) {
  for_each_tile(slab, [&](std::uint64_t tile) {
    if (!table.marks[tile]) return;
    for_each_row<Element>(
        slab, tile, [&](Element element, std::uint32_t label, bool counts, std::uint64_t place) {
          if (label == no_label || !has_key(element, counts)) return;
          const auto own = LeastKeys<KeyOf<Element>>::of(element);
          for (int k = 0; k < 2; ++k) {
            if (own.key[k] != table.keys[k][label]) continue;
            const Word64 word =
                slab.indices(place) << 1 | (LabelElement(element).negative() ? 1 : 0);
            Word64* const first = table.places[k] + label;
            if (word < present(first)) atomicMin(first, word);
          }
        });
  });
}

}  // namespace

void find_label_extrema(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream) {
  if (slab.begin == slab.end || table.keys[0] == nullptr) return;
  visit_label_type(slab.type, [&](auto element) {
    using Element = decltype(element);
    start_on_slab(extrema_work, find_keys_kernel<Element>, table, slab, stream);
    start_on_slab(extrema_work, find_places_kernel<Element>, table, slab, stream);
  });
}

void load_label_extrema(ElementType type) {
  visit_label_type(type, [](auto element) {
    using Element = decltype(element);
    load_kernel(find_keys_kernel<Element>);
    load_kernel(find_places_kernel<Element>);
  });
}

}  // namespace warpfold::cuda::kernels
