#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "bench/harness/result.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

/// A GPU as benchmarks use it: its properties, its memory and access to it.
namespace warpfold::bench {

/// One thread's way from host memory to where the elements are worked on: it fills one buffer while
/// what it put into the other is under way.
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// Returns the buffer to fill next, once it is free.
  virtual std::span<std::byte> next_buffer() = 0;

  /// Sends the first bytes of what next_buffer() returned.
  virtual void send(std::uint64_t bytes) = 0;

  /// Returns once everything sent has arrived.
  virtual void finish() = 0;
};

/// Makes a way from page-locked memory to the GPU that is current now. Throws Error.
std::unique_ptr<Transfer> make_gpu_transfer(std::uint64_t buffer_bytes);

/// Describes the current device.
DeviceFacts current_device_facts();

/// Returns how many bytes of arrays every rank's GPU, the current one, has room for.
/// Collective. Throws Error.
std::uint64_t memory_for_arrays(const RunOptions& options, const mpi::Communicator& communicator);

/// Returns this rank's threads for exact answers: those requested, or its part of its host's cores.
/// Collective.
int threads_for_checks(const RunOptions& options, const mpi::Communicator& communicator);

}  // namespace warpfold::bench
