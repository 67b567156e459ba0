#include <algorithm>
#include <type_traits>

#include "core/layout/partition.hpp"
#include "cuda/labels/label_digits.cuh"
#include "cuda/labels/label_runs.cuh"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {
namespace {

constexpr unsigned long long nothing = ~0ull;

__device__ std::uint64_t thread_number() {
  return std::uint64_t{blockIdx.x} * label_threads + threadIdx.x;
}

__device__ std::uint64_t thread_count() { return std::uint64_t{gridDim.x} * label_threads; }

/// Returns how many blocks go through so many labels: few, as often there is nothing to do.
std::uint64_t blocks_for(std::uint64_t labels) {
  constexpr std::uint64_t most_blocks = 1024;
  return std::clamp<std::uint64_t>(ceil_div(labels, std::uint64_t{label_threads}), 1, most_blocks);
}

__global__ void __launch_bounds__(label_threads)
    clear_labels_kernel(const __grid_constant__ LabelTable table) {
  if (thread_number() == 0) *table.window = {};
  for (std::uint64_t label = thread_number(); label < table.capacity; label += thread_count()) {
    table.counts[label] = {};
    table.first_nan[label] = nothing;
    if (table.keys[0] == nullptr) continue;
    for (int k = 0; k < 2; ++k) table.keys[k][label] = table.places[k][label] = nothing;
  }
}

constexpr int exponent_bias = 1 << 12;

/// Returns the exponent of an element plus the bias, 0 for those that say nothing.
template <class Element>
__device__ std::uint32_t biased_exponent(const LabelSlab& slab, std::uint64_t place) {
  if (slab.counting != nullptr && !slab.counting[place]) return 0;
  const LabelElement own(reinterpret_cast<const Element*>(slab.elements)[place]);
  if (own.magnitude() == 0 || !own.is_finite()) return 0;
  constexpr int bits = std::numeric_limits<Element>::digits;
  return static_cast<std::uint32_t>(own.exponent() + bits - 1 + exponent_bias);
}

/// Returns the window's exponent for a sample whose greatest exponent is this one: the same as long
/// as the elements have room in it. Infinities and NaN have none.
template <class Element>
__device__ int window_for(int present, int greatest) {
  constexpr int room = 12;
  constexpr int most = std::numeric_limits<Element>::max_exponent - 1;
  if (greatest <= present && present <= greatest + room) return present;
  return greatest < most ? greatest + 1 : most;
}

template <class Element>
__global__ void __launch_bounds__(label_threads)
    choose_window_kernel(const __grid_constant__ LabelTable table,
                         const __grid_constant__ LabelSlab slab) {
  constexpr std::uint64_t samples = 16 * label_threads;
  __shared__ std::uint32_t greatest_of_warp[label_threads / warp::lanes];
  const std::uint64_t count = slab.end - slab.begin;
  const std::uint64_t taken = count < samples ? count : samples;
  std::uint32_t greatest = 0;
  for (std::uint64_t i = threadIdx.x; i < taken; i += label_threads) {
    const std::uint32_t exponent = biased_exponent<Element>(slab, slab.begin + i * count / taken);
    greatest = exponent > greatest ? exponent : greatest;
  }
  greatest = warp::maximum(greatest);
  if (warp::lane() == 0) greatest_of_warp[warp::index()] = greatest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const std::uint32_t other : greatest_of_warp) greatest = other > greatest ? other : greatest;
  const int present = table.window->next;
  const int next = greatest == 0
                       ? present
                       : window_for<Element>(present, static_cast<int>(greatest) - exponent_bias);
  *table.window = {present, next};
}

template <LabelTerm term>
__device__ void fold_term(const LabelTable& table, std::uint64_t label, int exponent) {
  const LabelSums& sums = table.sums[static_cast<int>(term)];
  if (sums.digits == nullptr) return;
  const int stride = digit_stride(table.floating, term);
  unsigned long long* const digits = sums.digits + label * stride;
  int unit = exponent_above_digits(table.floating, term, exponent);
  for (int k = 0; k < stride; ++k) {
    unit -= label_digit_bits;
    const auto digit = static_cast<std::int64_t>(digits[k]);
    if (digit == 0) continue;
    digits[k] = 0;
    const auto bits = static_cast<std::uint64_t>(digit);
    const ScaledInteger number{digit < 0 ? 0 - bits : bits, unit, digit < 0};
    LabelSum<term>::digits(number, [&](int limb, std::int64_t addend) {
      sums.limbs[static_cast<std::uint64_t>(limb - sums.range.first) * table.capacity + label] +=
          static_cast<unsigned long long>(addend);
    });
  }
}

__global__ void __launch_bounds__(label_threads)
    fold_labels_kernel(const __grid_constant__ LabelTable table, const std::uint64_t labels,
                       const bool always) {
  const LabelWindow window = *table.window;
  if (!always && window.present == window.next) return;
  for (std::uint64_t label = thread_number(); label < labels; label += thread_count()) {
    fold_term<LabelTerm::value>(table, label, window.present);
    fold_term<LabelTerm::magnitude>(table, label, window.present);
    fold_term<LabelTerm::square>(table, label, window.present);
  }
}

__global__ void __launch_bounds__(label_threads)
    normalize_labels_kernel(const __grid_constant__ LabelTable table, const std::uint64_t labels) {
  const std::uint64_t copy_stride = table.capacity / table.copies;
  for (std::uint64_t i = thread_number(); i < labels * table.copies; i += thread_count()) {
    const std::uint64_t at = i / labels * copy_stride + i % labels;
    for (const LabelSums& sums : table.sums) {
      if (sums.limbs == nullptr) continue;
      std::int64_t carry = 0;
      for (int limb = 0; limb < sums.range.count; ++limb) {
        unsigned long long& word =
            sums.limbs[static_cast<std::uint64_t>(limb) * table.capacity + at];
        const std::int64_t digit = static_cast<std::int64_t>(word) + carry;
        const bool top = limb + 1 == sums.range.count;
        // To the nearest, so that negative sums need no more limbs than others.
        carry = top ? 0 : (digit + (std::int64_t{1} << 31)) >> 32;
        word = static_cast<unsigned long long>(digit - (carry << 32));
      }
    }
  }
}

__global__ void __launch_bounds__(label_threads)
    merge_copies_kernel(const __grid_constant__ LabelTable table, const std::uint64_t labels) {
  const std::uint64_t copy_stride = table.capacity / table.copies;
  for (std::uint64_t label = thread_number(); label < labels; label += thread_count()) {
    for (const LabelSums& sums : table.sums) {
      if (sums.limbs == nullptr) continue;
      for (int limb = 0; limb < sums.range.count; ++limb) {
        unsigned long long* const row =
            sums.limbs + static_cast<std::uint64_t>(limb) * table.capacity + label;
        for (std::uint32_t copy = 1; copy < table.copies; ++copy) {
          row[0] += row[copy * copy_stride];
          row[copy * copy_stride] = 0;
        }
      }
    }
  }
}

/// A block for each limb.
__global__ void __launch_bounds__(label_threads)
    find_used_limbs_kernel(const unsigned long long* limbs, const std::uint64_t stride,
                           const std::uint64_t labels, std::uint32_t* used) {
  const unsigned long long* const row = limbs + blockIdx.x * stride;
  for (std::uint64_t label = threadIdx.x; label < labels; label += label_threads)
    if (row[label] != 0) used[blockIdx.x] = 1;
}

}  // namespace

void clear_labels(const LabelTable& table, cudaStream_t stream) {
  launch("starting a reduction by labels on the GPU", clear_labels_kernel,
         {blocks_for(table.capacity), label_threads, stream}, table);
  for (int term = 0; term < label_terms; ++term) {
    const LabelSums& sums = table.sums[term];
    if (sums.digits == nullptr) continue;
    const std::uint64_t digits =
        table.capacity *
        static_cast<unsigned>(digit_stride(table.floating, static_cast<LabelTerm>(term)));
    const std::uint64_t limbs = table.capacity * static_cast<unsigned>(sums.range.count);
    check(cudaMemsetAsync(sums.digits, 0, digits * sizeof(*sums.digits), stream),
          "clearing sums of labels");
    check(cudaMemsetAsync(sums.limbs, 0, limbs * sizeof(*sums.limbs), stream),
          "clearing sums of labels");
  }
}

void choose_window(const LabelTable& table, const LabelSlab& slab, cudaStream_t stream) {
  if (!table.floating) return;
  const Launch one_block{1, label_threads, stream};
  if (slab.type == ElementType::f32)
    launch("sampling elements of labels on the GPU", choose_window_kernel<float>, one_block, table,
           slab);
  else
    launch("sampling elements of labels on the GPU", choose_window_kernel<double>, one_block, table,
           slab);
}

void fold_labels(const LabelTable& table, std::uint64_t labels, bool always, cudaStream_t stream) {
  if (!always && !table.floating) return;
  launch("folding sums of labels on the GPU", fold_labels_kernel,
         {blocks_for(labels), label_threads, stream}, table, labels, always);
}

void normalize_labels(const LabelTable& table, std::uint64_t labels, cudaStream_t stream) {
  launch("normalizing sums of labels on the GPU", normalize_labels_kernel,
         {blocks_for(labels * table.copies), label_threads, stream}, table, labels);
}

void merge_copies(const LabelTable& table, std::uint64_t labels, cudaStream_t stream) {
  launch("merging sums of labels on the GPU", merge_copies_kernel,
         {blocks_for(labels), label_threads, stream}, table, labels);
}

void find_used_limbs(const LabelTable& table, LabelTerm term, std::uint64_t labels,
                     std::uint32_t* used, cudaStream_t stream) {
  const LabelSums& sums = table.sums[static_cast<int>(term)];
  launch("looking for limbs of labels on the GPU", find_used_limbs_kernel,
         {static_cast<unsigned>(sums.range.count), label_threads, stream}, sums.limbs,
         table.capacity, labels, used);
}

void load_label_folds() {
  load_kernel(clear_labels_kernel);
  load_kernel(choose_window_kernel<float>);
  load_kernel(choose_window_kernel<double>);
  load_kernel(fold_labels_kernel);
  load_kernel(normalize_labels_kernel);
  load_kernel(merge_copies_kernel);
  load_kernel(find_used_limbs_kernel);
}

}  // namespace warpfold::cuda::kernels
