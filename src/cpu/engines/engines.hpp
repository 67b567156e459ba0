#pragma once

#include <memory>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/engine/stream_engines.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/thread_pool.hpp"

namespace warpfold::cpu {

/// Engines of the host, as Backend makes them: those of streams work in the threads that bring
/// slabs, those of blocks in a pool's. Throw std::bad_alloc.
std::unique_ptr<ReduceEngine> make_reduce_engine(const Kernels& kernels, const StagingPlan& plan,
                                                 ReduceNeeds needs);
std::unique_ptr<HistogramEngine> make_histogram_engine(const Kernels& kernels,
                                                       const StagingPlan& plan,
                                                       const std::vector<std::uint64_t>& bin_keys);
std::unique_ptr<ReadEngine> make_read_engine(const Kernels& kernels, const StagingPlan& plan,
                                             const ReadTarget& target);
std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const Kernels& kernels,
                                                          const StagingPlan& plan,
                                                          const AxisReduceSpec& spec);
std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const Kernels& kernels,
                                                      const StagingPlan& plan,
                                                      const AxisScanSpec& spec);
std::unique_ptr<ScanEngine> make_scan_engine(std::shared_ptr<ThreadPool> pool,
                                             const Kernels& kernels, const BlockEnginePlan& plan,
                                             const ScanSpec& spec);
std::unique_ptr<CompactEngine> make_compact_engine(std::shared_ptr<ThreadPool> pool,
                                                   const Kernels& kernels,
                                                   const BlockEnginePlan& plan, bool indices);

}  // namespace warpfold::cpu
