#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/runtime/copy.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::ladder {
namespace {

static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));

template <class T, void (*Launch)(const Filter<T>& filter, cudaStream_t stream)>
void start(const void* input, std::uint64_t elements, const void* threshold, void* selected,
           std::uint64_t* count, cudaStream_t stream) {
  cuda::fill_bytes(count, 0, sizeof(*count), stream);
  Launch({static_cast<const T*>(input), elements, *static_cast<const T*>(threshold),
          static_cast<T*>(selected), reinterpret_cast<unsigned long long*>(count)},
         stream);
}

template <class T>
std::vector<FilterVariant> variants_of() {
  return {
      {{"all", "an atomicAdd an element, of 0 or 1", {}}, start<T, filter_by_all<T>>},
      {{"kept", "an atomicAdd an element kept, which compilers make one a warp", {}},
       start<T, filter_by_atomics<T>>},
      {{"warp", "an atomicAdd a warp: __activemask, __popc, __shfl_sync", {}},
       start<T, filter_by_warps<T>>},
      {{"coalesced-group", "an atomicAdd a warp: coalesced_threads", {}},
       start<T, filter_by_coalesced_groups<T>>},
      {{"block", "an atomicAdd a block: __ballot_sync, shared memory", {}},
       start<T, filter_by_blocks<T>>},
      {{"tile", "an atomicAdd a block, sixteen elements a thread", {}},
       start<T, filter_by_tiles<T>>},
  };
}

}  // namespace

std::vector<FilterVariant> atomics_variants(ElementType type) {
  switch (type) {
    case ElementType::i32:
      return variants_of<std::int32_t>();
    case ElementType::u32:
      return variants_of<std::uint32_t>();
    default:
      throw usage_error("the atomics ladder has no rungs for " + std::string(name_of(type)), "",
                        "Choose i32 or u32.");
  }
}

}  // namespace warpfold::bench::ladder
