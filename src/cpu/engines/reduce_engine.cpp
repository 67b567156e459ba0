#include "cpu/engines/reduce_engine.hpp"

namespace warpfold::cpu {

HostReduceEngine::HostReduceEngine(const Kernels& kernels, const ReducePlan& plan)
    : HostSlabEngine(kernels, plan, [&] {
        return make_range_reducer(kernels, plan.format, plan.needs, plan.decoding);
      }) {}

Accumulator HostReduceEngine::finish() {
  Accumulator total = Accumulator::empty();
  for_each_sink([&](RangeReducer& folder) { total.merge(folder.take()); });
  total.normalize();
  return total;
}

}  // namespace warpfold::cpu
