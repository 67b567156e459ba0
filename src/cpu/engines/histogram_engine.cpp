#include "cpu/engines/histogram_engine.hpp"

namespace warpfold::cpu {

HostHistogramEngine::HostHistogramEngine(const Kernels& kernels, const HistogramPlan& plan)
    : HostHistogramEngine(kernels, plan,
                          *make_bin_counter_factory(kernels, plan.slabs.format, plan.bin_keys,
                                                    plan.slabs.decoding)) {}

HostHistogramEngine::HostHistogramEngine(const Kernels& kernels, const HistogramPlan& plan,
                                         const BinCounterFactory& counters)
    : HostSlabEngine(kernels, plan.slabs, [&] { return counters.make(); }),
      bins_(plan.bin_keys.size() - 1) {}

HistogramCounts HostHistogramEngine::finish() {
  HistogramCounts total;
  total.bins.resize(bins_);
  for_each_sink([&](const BinCounter& counter) {
    const HistogramCounts counts = counter.counts();
    for (std::size_t bin = 0; bin < bins_; ++bin) total.bins[bin] += counts.bins[bin];
    total.below += counts.below;
    total.above += counts.above;
    total.nan += counts.nan;
  });
  return total;
}

}  // namespace warpfold::cpu
