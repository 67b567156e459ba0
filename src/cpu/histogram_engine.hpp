#pragma once

#include <cstddef>

#include "core/backend.hpp"
#include "cpu/bin_counter.hpp"
#include "cpu/host_slab_engine.hpp"
#include "cpu/kernels/kernels.hpp"

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
