#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/run/gpu_share.hpp"
#include "pipeline/run/host_items.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/stage_timing.hpp"

namespace warpfold::pipeline {

/// Items of a pass, and how the threads of a rank share them.
struct PassItems {
  ElementRange items;            ///< this rank's items
  int threads = 1;               ///< this rank's threads; 0 or more
  std::uint64_t bytes = 0;       ///< bytes of all ranks' items
  std::uint64_t grain_size = 1;  ///< items that a thread takes at a time
  GpuShare* gpu = nullptr;       ///< takes items while cores take others
  std::uint64_t pieces = 1;      ///< pieces per item, for cores beside a GPU
  HostItems* host = nullptr;     ///< other ranks' items that this one may take, one at a time
};

/// Work that a thread takes: an item, or a piece of it where cores share the items with a GPU.
struct PassItem {
  std::uint64_t number = 0;
  std::uint64_t piece = 0;
  bool for_gpu = false;    ///< the GPU takes the item whole
  ElementRange rest = {};  ///< as HostItems::Item has it
};

/// One thread of a pass.
struct PassThread {
  int number;                        ///< from 0
  const std::stop_token& stop;       ///< stopped once another thread or rank has failed
  std::atomic<std::uint64_t>& done;  ///< bytes of the pass, by all threads of this rank
  StageRegistry& stages;             ///< stages of the run
};

/// One thread's work on items. A rank's threads take its own items in rising order, so that a
/// consumer may wait for those before where threads take one at a time.
class Consumer {
 public:
  virtual ~Consumer() = default;

  /// Takes an item. Throws Error. Returns soon where the pass is to stop.
  virtual void take(const PassItem& item) = 0;

  /// Hands over what the items came to, after the last one. Not called where the pass is to stop.
  virtual void finish() {}

  /// Returns the times of the thread's stages.
  virtual std::vector<StageTiming> timings() const = 0;
};

/// Makes the consumer of a thread, in that thread; null where it has no part in the pass.
using MakeConsumer = std::function<std::unique_ptr<Consumer>(PassThread& thread)>;

/// Completes what consumers handed over and the stages of a rank's threads, which are listed thread
/// by thread. Collective; throws the same Error on every rank.
using MergePass = std::function<void(std::vector<StageTiming>& stages)>;

/// Passes all items of all ranks to consumers, then merges. Returns the times of this rank's
/// stages. Collective; where a consumer throws, all threads of all ranks stop and every rank throws
/// that Error.
std::vector<StageTiming> run_pass(const PassItems& pass, ProgressMonitor& monitor,
                                  const mpi::Communicator& communicator, const MakeConsumer& make,
                                  const MergePass& merge = {});

}  // namespace warpfold::pipeline
