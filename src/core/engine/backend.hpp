#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/engine/staging_plan.hpp"
#include "core/engine/stream_engines.hpp"
#include "core/scan/scan_spec.hpp"

namespace warpfold {

/// The processors that a rank computes with. Engines throw Error if memory is too small for a plan.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;    ///< "cpu" or "cuda"
  virtual std::string device() const = 0;  ///< for reports: "NVIDIA H200", "2 threads, AVX-512"

  virtual std::unique_ptr<ReduceEngine> make_reduce_engine(const StagingPlan& plan,
                                                           ReduceNeeds needs) = 0;

  /// Makes one that counts by `bin_keys`: ordered_key() of the least value of each bin, rising, and
  /// of the least value above the last one; in the type that elements have once decoded.
  virtual std::unique_ptr<HistogramEngine> make_histogram_engine(
      const StagingPlan& plan, const std::vector<std::uint64_t>& bin_keys) = 0;

  virtual std::unique_ptr<ReadEngine> make_read_engine(const StagingPlan& plan,
                                                       const ReadTarget& target) = 0;

  /// Returns null where a device has no room for the factors, or these have more bits than it
  /// takes.
  virtual std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const StagingPlan& plan,
                                                                    const AxisReduceSpec& spec) = 0;

  /// Makes one for at most `labels` labels; it may have room for fewer. Returns null where cores
  /// are to reduce by labels: they have no such engine, and a device may have no room.
  virtual std::unique_ptr<LabelEngine> make_label_engine(const StagingPlan&, ReduceNeeds,
                                                         std::uint64_t /*labels*/) {
    return nullptr;
  }

  /// Returns null where cores are to find quantiles along axes: they have no such engine, and
  /// a device may have no room for the tables.
  virtual std::unique_ptr<QuantileEngine> make_quantile_engine(const StagingPlan&,
                                                               const QuantileEngineSpec&) {
    return nullptr;
  }

  virtual std::unique_ptr<AxisScanEngine> make_axis_scan_engine(const StagingPlan& plan,
                                                                const AxisScanSpec& spec) = 0;

  /// Makes one of a scan whose input is as stored.
  virtual std::unique_ptr<ScanEngine> make_scan_engine(const BlockEnginePlan& plan,
                                                       const ScanSpec& spec) = 0;

  /// Makes one that gives indices where `indices` says so.
  virtual std::unique_ptr<CompactEngine> make_compact_engine(const BlockEnginePlan& plan,
                                                             bool indices) = 0;
};

}  // namespace warpfold
