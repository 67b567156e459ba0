#include <type_traits>

#include "cuda/labels/label_cache.cuh"
#include "cuda/labels/label_launch.cuh"
#include "cuda/labels/label_terms.cuh"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr LabelWork sums_work{"preparing a reduction by labels for this GPU",
                              "starting a reduction by labels on the GPU"};

/// Adds digits of a term to those in device memory.
template <class Element, LabelTerm term>
struct DigitTarget {
  unsigned long long* digits;

  __device__ explicit DigitTarget(const LabelTable& table)
      : digits(table.sums[static_cast<int>(term)].digits) {}

  template <int Count>
  __device__ void add(std::uint32_t label, const LabelDigits<Count>& sum) const {
    constexpr unsigned stride = digit_stride(std::is_floating_point_v<Element>, term);
    unsigned long long* const own = digits + std::uint64_t{label} * stride;
#pragma unroll
    for (int k = 0; k < Count; ++k)
      if (sum.digit[k] != 0) atomicAdd(own + k, static_cast<unsigned long long>(sum.digit[k]));
  }
};

/// Adds counts, two to a word: elements and NaN, infinities of either sign. Few enough elements
/// come in a launch.
template <int Count>
struct CountTarget {
  AxisCounts* counts;

  __device__ explicit CountTarget(const LabelTable& table) : counts(table.counts) {}

  __device__ void add(std::uint32_t label, const LabelDigits<Count>& sum) const {
    AxisCounts& own = counts[label];
    add(own.elements, own.nan, sum.digit[0]);
    if constexpr (Count > 1) add(own.positive_infinities, own.negative_infinities, sum.digit[1]);
  }

 private:
  __device__ static void add(std::uint64_t& low, std::uint64_t& high, std::int64_t both) {
    const auto word = static_cast<std::uint64_t>(both);
    add(low, word & 0xffffffffu);
    add(high, word >> 32);
  }
  __device__ static void add(std::uint64_t& to, std::uint64_t addend) {
    if (addend != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&to),
                static_cast<unsigned long long>(addend));
  }
};

/// One thread's way from elements to counts.
template <class Element>
class Counting {
 public:
  static constexpr int count = std::is_floating_point_v<Element> ? 2 : 1;
  using Digits = LabelDigits<count>;
  using Target = CountTarget<count>;

  __device__ Counting(const LabelTable& table, const LabelSlab& slab)
      : first_nan_(table.first_nan), slab_(slab) {}

  /// Places of a thread rise.
  __device__ Digits of(Element element, std::uint32_t label, std::uint64_t place) {
    Digits digits = Digits::none();
    digits.digit[0] = 1;
    const LabelElement own(element);
    if (own.is_nan()) {
      digits.digit[0] |= std::int64_t{1} << 32;
      note_nan(label, place);
    } else if (!own.is_finite()) {
      digits.digit[count - 1] = own.negative() ? std::int64_t{1} << 32 : 1;
    }
    return digits;
  }

 private:
  __device__ void note_nan(std::uint32_t label, std::uint64_t place) {
    if (label == noted_) return;
    noted_ = label;
    if (label < 64) {
      if ((low_noted_ >> label & 1) != 0) return;
      low_noted_ |= std::uint64_t{1} << label;
    }
    const unsigned long long index = slab_.indices(place);
    unsigned long long* const first = first_nan_ + label;
    if (index < *static_cast<volatile unsigned long long*>(first)) atomicMin(first, index);
  }

  unsigned long long* first_nan_;
  const LabelSlab& slab_;
  std::uint32_t noted_ = no_label;  ///< the label of the last NaN
  std::uint64_t low_noted_ = 0;     ///< labels of NaN that are below 64
};

template <class Element, LabelTerm term>
class Summing {
 public:
  static constexpr int count = TermDigits<Element, term>::count;
  using Digits = LabelDigits<count>;
  using Target = DigitTarget<Element, term>;

  __device__ Summing(const LabelTable& table, const LabelSlab&) : digits_(table) {}

  __device__ Digits of(Element element, std::uint32_t label, std::uint64_t) const {
    return digits_.of(element, label);
  }

 private:
  TermDigits<Element, term> digits_;
};

/// Returns how many blocks a multiprocessor has at least: leaves registers enough.
constexpr int sum_blocks(int digits) { return digits > 4 ? 2 : 3; }

template <class Element, class Way>
__global__ void __launch_bounds__(label_threads, sum_blocks(Way::count))
    sum_labels_kernel(const __grid_constant__ LabelTable table,
                      const __grid_constant__ LabelSlab slab) {
  using Digits = typename Way::Digits;
  __shared__ LabelCache<Way::count> cache;
  cache.clear();
  __syncthreads();
  const typename Way::Target target(table);
  const unsigned copies = LabelPlaces::copies(slab.labels);
  const auto add = [&](std::uint32_t label, const Digits& digits) {
    const unsigned place = cache.places.find(label, copies);
    if (place != LabelPlaces::none)
      cache.add(place, digits);
    else
      target.add(label, digits);
  };
  Way way(table, slab);
  LabelRuns<Digits, decltype(add)> runs(add);
  for_each_tile(slab, [&](std::uint64_t tile) {
    for_each_row<Element>(
        slab, tile, [&](Element element, std::uint32_t label, bool counts, std::uint64_t place) {
          runs.take(label,
                    counts && label != no_label ? way.of(element, label, place) : Digits::none());
        });
  });
  runs.flush();
  __syncthreads();
  for (unsigned i = threadIdx.x; i < LabelPlaces::count; i += label_threads)
    if (cache.places.owner[i] != no_label) target.add(cache.places.owner[i], cache.at(i));
}

template <class Element, LabelTerm term>
void sum_term(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream) {
  if (table.sums[static_cast<int>(term)].digits != nullptr)
    start_on_slab(sums_work, sum_labels_kernel<Element, Summing<Element, term>>, table, slab,
                  stream);
}

}  // namespace

void sum_labels(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream) {
  if (slab.begin == slab.end) return;
  visit_label_type(slab.type, [&](auto element) {
    using Element = decltype(element);
    start_on_slab(sums_work, sum_labels_kernel<Element, Counting<Element>>, table, slab, stream);
    sum_term<Element, LabelTerm::value>(table, slab, stream);
    sum_term<Element, LabelTerm::magnitude>(table, slab, stream);
    sum_term<Element, LabelTerm::square>(table, slab, stream);
  });
}

void load_label_sums(ElementType type) {
  visit_label_type(type, [](auto element) {
    using Element = decltype(element);
    load_kernel(sum_labels_kernel<Element, Counting<Element>>);
    load_kernel(sum_labels_kernel<Element, Summing<Element, LabelTerm::value>>);
    load_kernel(sum_labels_kernel<Element, Summing<Element, LabelTerm::magnitude>>);
    load_kernel(sum_labels_kernel<Element, Summing<Element, LabelTerm::square>>);
  });
}

}  // namespace warpfold::cuda::kernels
