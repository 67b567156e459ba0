#include "cpu/engines/fold_engine.hpp"

namespace warpfold::cpu {

HostFoldEngine::HostFoldEngine(const Kernels& kernels, const FoldPlan& plan)
    : HostSlabEngine(kernels, plan, [&] {
        return make_range_folder(kernels, plan.format, plan.needs, plan.decoding);
      }) {}

Accumulator HostFoldEngine::finish() {
  Accumulator total = Accumulator::empty();
  for_each_sink([&](RangeFolder& folder) { total.merge(folder.take()); });
  total.normalize();
  return total;
}

}  // namespace warpfold::cpu
