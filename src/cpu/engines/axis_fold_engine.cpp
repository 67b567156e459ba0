#include "cpu/engines/axis_fold_engine.hpp"

namespace warpfold::cpu {

HostAxisFoldEngine::HostAxisFoldEngine(const Kernels& kernels, const AxisFoldPlan& plan) {
  for (int lane = 0; lane < plan.lanes; ++lane)
    lanes_.push_back({PageBuffer(plan.staging_bytes),
                      make_axis_folder(kernels, plan.format, plan.decoding, plan.needs)});
}

void HostAxisFoldEngine::submit(int lane, const StagedChunks& slab, const BoxIndices& rows) {
  at(lane).folder->fold(slab, buffer(lane).data(), rows);
}

}  // namespace warpfold::cpu
