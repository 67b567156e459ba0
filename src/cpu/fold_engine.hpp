#pragma once

#include "core/backend.hpp"
#include "cpu/host_slab_engine.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/range_folder.hpp"

namespace warpfold::cpu {

class HostFoldEngine final : public HostSlabEngine<FoldEngine, RangeFolder> {
 public:
  HostFoldEngine(const Kernels& kernels, const FoldPlan& plan);

  Accumulator finish() override;
};

}  // namespace warpfold::cpu
