#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>

/// A GPU on the host. A lane is a fibre, a thread block an operating system's thread, and only one
/// lane runs at any time: it hands over where it meets others (shuffles, votes, barriers), where it
/// waits for memory that others write, and now and then at an atomic operation. Who is next is
/// drawn from a seeded generator, so that a failure can be had again.
///
/// Lanes that wait for what can't come end the process with a message, as do lanes of a warp that
/// meet in different operations.
namespace warpfold::emulator {

inline constexpr unsigned warp_lanes = 32;

/// As a GPU of few multiprocessors.
inline constexpr unsigned multiprocessors = 4;
inline constexpr unsigned blocks_per_multiprocessor = 4;
inline constexpr unsigned most_resident_blocks = multiprocessors * blocks_per_multiprocessor;

struct Grid {
  unsigned blocks = 1;
  unsigned threads = 1;  ///< threads per block
  std::size_t dynamic_shared_bytes = 0;
  bool resident = false;  ///< all blocks run at the same time
};

/// Runs a kernel to its end: `lane` once for each thread. Returns false, and runs nothing, where
/// the GPU has no room for the grid.
bool run(const Grid& grid, const std::function<void()>& lane);

/// Restarts the order in which lanes run.
void seed_schedule(std::uint64_t seed);

/// Prints what is wrong with the kernel and where, and aborts.
[[noreturn]] void fail(const char* what);

// Functions for running lanes.

/// A collective operation of a warp's lanes.
enum class Meeting : std::uint8_t { synchronize, shuffle, vote, match, reduce, scan };

/// An array with a value of each lane of a warp.
struct Met {
  void* values;
  unsigned lanes;  ///< that came with a value

  template <class T>
  T* values_of() const {
    return static_cast<T*>(values);
  }
  bool has(unsigned lane) const { return lane < warp_lanes && (lanes >> lane & 1) != 0; }
};

/// The value that a lane brings. The last lane to come calls `finish`, if there is one, for all.
struct Brought {
  const void* value = nullptr;
  std::size_t bytes = 0;
  void (*finish)(const Met&) = nullptr;
};

struct Place {
  uint3 thread;
  uint3 block;
  dim3 threads;
  dim3 blocks;
  std::byte* dynamic_shared;

  unsigned lane() const { return thread.x % warp_lanes; }
};

/// Place of the running lane.
extern constinit thread_local Place* place;

/// Waits for the lanes of `mask` that have not ended; returns what each brings.
Met meet(Meeting meeting, unsigned mask, const Brought& brought);

/// Waits for all threads of the block that have not ended.
void wait_at_block_barrier();

/// Lets others run before this lane looks at memory that it waits for.
void wait_for_others(const void* memory, std::size_t bytes);

/// Lets other lanes of the block run, now and then.
void perhaps_let_lanes_run();

/// Lets other blocks run, now and then.
void perhaps_let_blocks_run();

}  // namespace warpfold::emulator
