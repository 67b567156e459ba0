#pragma once

#include "core/engine/backend.hpp"
#include "cpu/engines/host_slab_engine.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/range_folder.hpp"

namespace warpfold::cpu {

class HostFoldEngine final : public HostSlabEngine<FoldEngine, RangeFolder> {
 public:
  HostFoldEngine(const Kernels& kernels, const FoldPlan& plan);

  Accumulator finish() override;
};

}  // namespace warpfold::cpu
