#pragma once

#include "core/engine/backend.hpp"
#include "cpu/engines/host_slab_engine.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/range_reducer.hpp"

namespace warpfold::cpu {

class HostReduceEngine final : public HostSlabEngine<ReduceEngine, RangeReducer> {
 public:
  HostReduceEngine(const Kernels& kernels, const ReducePlan& plan);

  Accumulator finish() override;
};

}  // namespace warpfold::cpu
