#include "bench/gpu/gpu_resources.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

#include "bench/cub/cub_peers.hpp"
#include "core/layout/partition.hpp"
#include "cpu/machine/machine.hpp"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::bench {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

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

DeviceFacts current_device_facts() {
  cudaDeviceProp properties{};
  int driver = 0;
  cuda::check(cudaGetDeviceProperties(&properties, cuda::current_device()),
              "asking for the GPU's properties");
  cuda::check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  DeviceFacts facts;
  facts.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = properties.totalGlobalMem;
  facts.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  facts.driver = version_text(driver);
  facts.runtime = version_text(CUDART_VERSION);
  facts.cub = cub_description();
  return facts;
}

std::uint64_t memory_for_arrays(const RunOptions& options, const mpi::Communicator& communicator) {
  const auto host_ranks = static_cast<std::uint64_t>(communicator.on_this_host().size());
  std::uint64_t mine = 0;
  pipeline::run_on_all(communicator, [&] {
    const std::uint64_t sharing =
        options.share_gpu ? ceil_div(host_ranks, cuda::visible_devices().size()) : 1;
    mine =
        cuda::Device(cuda::current_device(), options.device_memory_bytes, static_cast<int>(sharing))
            .memory_limit();
  });
  return mpi::minimum({mine}, communicator).front();
}

int threads_for_checks(const RunOptions& options, const mpi::Communicator& communicator) {
  const int host_ranks = communicator.on_this_host().size();
  if (options.threads > 0) return options.threads;
  return std::max(1, cpu::available_cores() / host_ranks);
}

}  // namespace warpfold::bench
