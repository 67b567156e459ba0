#pragma once

#include <cstddef>

#include "core/engine/backend.hpp"
#include "cpu/engines/host_slab_engine.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/bin_counter.hpp"

namespace warpfold::cpu {

class HostHistogramEngine final : public HostSlabEngine<HistogramEngine, BinCounter> {
 public:
  HostHistogramEngine(const Kernels& kernels, const HistogramPlan& plan);

  HistogramCounts finish() override;

 private:
  HostHistogramEngine(const Kernels& kernels, const HistogramPlan& plan,
                      const BinCounterFactory& counters);

  std::size_t bins_;
};

}  // namespace warpfold::cpu
