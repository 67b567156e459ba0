#include "bench/gpu/transfer.hpp"

#include <array>

#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::bench {
namespace {

class GpuTransfer : public Transfer {
 public:
  explicit GpuTransfer(std::uint64_t buffer_bytes) : device_(cuda::current_device()) {
    for (Slot& slot : slots_) {
      slot.pinned = cuda::PinnedBuffer(buffer_bytes);
      slot.target = cuda::DeviceBuffer(buffer_bytes);
    }
  }

  std::span<std::byte> next_buffer() override {
    cuda::check(cudaSetDevice(device_), "selecting the GPU");
    filling_ = 1 - filling_;
    slots_[filling_].sent.wait();
    return slots_[filling_].pinned.span();
  }

  void send(std::uint64_t bytes) override {
    Slot& slot = slots_[filling_];
    cuda::copy_to_device(slot.target.data(), slot.pinned.data(), bytes, stream_.get());
    slot.sent.record(stream_.get());
  }

  void finish() override { stream_.synchronize(); }

 private:
  struct Slot {
    cuda::PinnedBuffer pinned;
    cuda::DeviceBuffer target;
    cuda::Event sent;
  };

  int device_;
  std::array<Slot, 2> slots_;
  std::size_t filling_ = 0;
  cuda::Stream stream_;
};

}  // namespace

std::unique_ptr<Transfer> make_gpu_transfer(std::uint64_t buffer_bytes) {
  return std::make_unique<GpuTransfer>(buffer_bytes);
}

}  // namespace warpfold::bench
