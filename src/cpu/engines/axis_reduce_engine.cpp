#include "cpu/engines/axis_reduce_engine.hpp"

namespace warpfold::cpu {

HostAxisReduceEngine::HostAxisReduceEngine(const Kernels& kernels, const AxisReducePlan& plan) {
  for (int lane = 0; lane < plan.lanes; ++lane)
    lanes_.push_back({PageBuffer(plan.staging_bytes),
                      make_axis_reducer(kernels, plan.format, plan.decoding, plan.needs)});
}

void HostAxisReduceEngine::submit(int lane, const StagedChunks& slab, const BoxIndices& rows) {
  at(lane).folder->reduce(slab, buffer(lane).data(), rows);
}

}  // namespace warpfold::cpu
