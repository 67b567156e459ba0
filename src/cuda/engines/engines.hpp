#pragma once

#include <memory>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/engine/stream_engines.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

/// Engines on `device`, which must be current, as Backend makes them. Throw Error where the
/// device's memory is too little: for a slab of 64 KiB, for a thread's slabs along an axis, for a
/// tile.
std::unique_ptr<ReduceEngine> make_reduce_engine(const Device& device, const StagingPlan& plan,
                                                 ReduceNeeds needs);
std::unique_ptr<HistogramEngine> make_histogram_engine(const Device& device,
                                                       const StagingPlan& plan,
                                                       const std::vector<std::uint64_t>& bin_keys);
std::unique_ptr<ReadEngine> make_read_engine(const Device& device, const StagingPlan& plan,
                                             const ReadTarget& target);
std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const Device& device,
                                                          const StagingPlan& plan,
                                                          const AxisReduceSpec& spec);
std::unique_ptr<LabelEngine> make_label_engine(const Device& device, const StagingPlan& plan,
                                               const ReduceNeeds& needs, std::uint64_t labels);
std::unique_ptr<QuantileEngine> make_quantile_engine(const Device& device, const StagingPlan& plan,
                                                     const QuantileEngineSpec& spec);
std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const Device& device, const StagingPlan& plan,
                                                      const AxisScanSpec& spec);
std::unique_ptr<ScanEngine> make_scan_engine(const Device& device, const BlockEnginePlan& plan,
                                             const ScanSpec& spec);
std::unique_ptr<CompactEngine> make_compact_engine(const Device& device,
                                                   const BlockEnginePlan& plan, bool indices);

}  // namespace warpfold::cuda
