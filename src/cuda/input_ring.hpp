#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/event.hpp"
#include "cuda/pinned_buffer.hpp"

namespace warpfold::cuda {

/// Page-locked memory through which blocks are filled, shared by the blocks' threads. A block holds
/// at most one slot, from acquire() to release(); with a slot more than blocks there always is a
/// free one.
class InputRing {
 public:
  InputRing(int blocks, std::uint64_t slot_bytes);

  /// The slot's memory, once the last copy out of it is done. A block that holds a slot already
  /// gets it again.
  std::byte* acquire(int block);

  /// The memory of the slot that the block holds. Throws Error where it holds none.
  const std::byte* held(int block);

  /// Gives the block's slot back, free once `stream` has come this far.
  void release(int block, cudaStream_t stream);

 private:
  static constexpr int nobody = -1;

  struct Slot {
    explicit Slot(std::uint64_t bytes) : memory(bytes) {}

    PinnedBuffer memory;
    Event copied;
    int holder = nobody;
  };

  Slot& slot_of(int block);
  Slot& assign(int block);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t next_ = 0;  ///< the slot that was released longest ago is looked for from here
};

}  // namespace warpfold::cuda
