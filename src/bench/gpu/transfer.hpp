#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

}  // namespace warpfold::bench
