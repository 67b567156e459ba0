#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "core/engine/stream_engines.hpp"

namespace warpfold::pipeline {

/// The slabs of compressed chunks that a GPU takes of a rank's while cores take the others. Threads
/// ask for each slab whether to bring it to the GPU, which costs them a tenth of decompressing it:
/// they should while there is room, and the GPU is done before cores are with what is left. They
/// may call at once.
class GpuShare {
 public:
  using MakeEngine = std::function<std::unique_ptr<StreamEngine>()>;

  /// A slab has at most so many elements; cores are done with less than `least_slabs` before the
  /// GPU is done with one.
  GpuShare(MakeEngine make_engine, std::uint64_t slab_elements, std::uint64_t least_slabs)
      : make_engine_(std::move(make_engine)),
        slab_elements_(slab_elements),
        least_slabs_(least_slabs) {}

  /// Makes the engine; until then cores have all slabs. They keep them if there is too little
  /// device memory for the engine to decompress, or to hold a slab. To be called by one thread.
  /// Throws what make_engine() throws.
  void start();

  /// Returns whether the GPU is to have one of the `left` slabs that are left now, which the thread
  /// then submits to engine(). Throws Error for what the GPU was given earlier.
  bool claim(std::uint64_t left);

  /// Tells that a slab so claimed was submitted, or that there was none any more.
  void release();

  /// Returns the engine; null where the GPU has no part.
  StreamEngine* engine() const { return gpu_; }

 private:
  void flush_if_idle();

  MakeEngine make_engine_;
  std::uint64_t slab_elements_;
  std::uint64_t least_slabs_;
  std::unique_ptr<StreamEngine> engine_;
  std::atomic<StreamEngine*> gpu_ = nullptr;
  std::mutex mutex_;
  int claims_ = 0;
  std::atomic<bool> ended_ = false;  ///< the GPU gets no more
};

}  // namespace warpfold::pipeline
