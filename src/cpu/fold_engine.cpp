#include "cpu/fold_engine.hpp"

#include <algorithm>
#include <utility>

#include "warpfold/core/partition.hpp"

namespace warpfold::cpu {
namespace {

constexpr int slot_count = 3;  ///< one being filled, one full, one being folded

/// What a worker takes at a time: large against the cost of taking it, small against a slab.
constexpr std::uint64_t task_elements = 8 * block_elements;

}  // namespace

HostFoldEngine::HostFoldEngine(std::shared_ptr<ThreadPool> pool, const Kernels& kernels,
                               const FoldPlan& plan)
    : pool_(std::move(pool)), element_bytes_(size_of(plan.format.type)) {
  for (int slot = 0; slot < slot_count; ++slot)
    buffers_.emplace_back(plan.slab_elements * element_bytes_);
  for (int worker = 0; worker < pool_->threads(); ++worker)
    folders_.push_back(make_range_folder(kernels, plan.format, plan.needs));
}

std::span<std::byte> HostFoldEngine::buffer(int slot) {
  return buffers_[static_cast<std::size_t>(slot)].span();
}

void HostFoldEngine::submit(int slot, std::uint64_t first_index, std::uint64_t elements) {
  const std::byte* slab = buffer(slot).data();
  pool_->parallel_for(ceil_div(elements, task_elements), [&](std::size_t task, int worker) {
    const std::uint64_t first = task * task_elements;
    folders_[static_cast<std::size_t>(worker)]->fold(slab + first * element_bytes_,
                                                     std::min(task_elements, elements - first),
                                                     first_index + first);
  });
}

Accumulator HostFoldEngine::finish() {
  Accumulator total = Accumulator::empty();
  for (const auto& folder : folders_) total.merge(folder->take());
  total.normalize();
  return total;
}

}  // namespace warpfold::cpu
