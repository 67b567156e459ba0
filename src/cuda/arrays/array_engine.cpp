#include "cuda/arrays/array_engine.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/arrays/device_scan.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// A scan whose scratch memory outlives the scans that use it, and serves one at a time, whatever
/// their streams.
struct PreparedScan {
  ScanSpec spec;
  bool reproducible;
  DeviceScan scan{spec, reproducible};
  Event scanned{};

  ~PreparedScan() { cudaEventSynchronize(scanned.get()); }
};

/// Makes a device current for a while.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) { check(cudaSetDevice(device), "selecting the GPU"); }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = current_device();
};

class DeviceArrayEngine final : public ArrayEngine {
 public:
  void check_memory(const void* memory) const override {
    if (const int current = current_device(); current != device_)
      throw usage_error(
          "the current GPU has changed",
          "it is GPU " + std::to_string(current) + ", and was " + std::to_string(device_),
          "Call cudaSetDevice first, or use an object for each GPU.");
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, memory), "asking where an array is");
    if (attributes.type == cudaMemoryTypeManaged) return;
    if (attributes.type != cudaMemoryTypeDevice)
      throw usage_error("an array is not in device memory", "its address is the host's",
                        "Copy it to memory of cudaMalloc or cudaMallocManaged.");
    if (attributes.device != device_)
      throw usage_error("an array is in another GPU's memory",
                        "it is on GPU " + std::to_string(attributes.device) +
                            ", and the current one is " + std::to_string(device_),
                        "Call cudaSetDevice first, or copy the array.");
  }

  void start_reduce(const void* elements, std::uint64_t count, ElementType type, ReduceNeeds needs,
                    StreamHandle stream) override {
    reduce_.start(elements, count, {type, native_byte_order}, needs, 0, stream);
  }

  Accumulator reduce_result() override { return reduce_.result(); }

  void prepare_scan(const ScanSpec& spec, bool reproducible) override {
    const auto serves = [&](const auto& prepared) {
      return prepared->spec == spec && prepared->reproducible == reproducible;
    };
    auto found = std::ranges::find_if(scans_, serves);
    if (found == scans_.end())
      found =
          scans_.insert(found, std::unique_ptr<PreparedScan>(new PreparedScan{spec, reproducible}));
    scan_ = found->get();
  }

  bool needs_total(std::uint64_t elements) const override {
    return scan_->scan.needs_total(elements);
  }

  Accumulator total(const void* input, std::uint64_t elements, StreamHandle stream) override {
    scan_->scanned.delay(stream);
    return scan_->scan.total(input, elements, stream);
  }

  std::optional<std::uint64_t> scan(const void* input, void* output, std::uint64_t elements,
                                    const Accumulator& before, StreamHandle stream) override {
    scan_->scanned.delay(stream);
    const auto overflow = scan_->scan.scan(input, output, elements, before, stream);
    scan_->scanned.record(stream);
    return overflow;
  }

 private:
  int device_ = current_device();
  DeviceReduce reduce_;
  std::vector<std::unique_ptr<PreparedScan>> scans_;
  PreparedScan* scan_ = nullptr;  ///< the one prepared last
};

}  // namespace

std::unique_ptr<ArrayEngine> make_array_engine() {
  if (visible_devices().empty())
    throw Error("there is no GPU for arrays in device memory", unavailable_reason(),
                "Run where a GPU is visible (nvidia-smi lists them).");
  return std::make_unique<DeviceArrayEngine>();
}

std::shared_ptr<void> allocate_array(int device, std::uint64_t bytes) {
  const CurrentDevice changed(device);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the GPU's free memory");
  void* data = nullptr;
  if (bytes > free_bytes || (bytes > 0 && cudaMalloc(&data, bytes) != cudaSuccess)) {
    cudaGetLastError();
    throw Error(
        "the GPU's memory is too small for an array of " + std::to_string(bytes) + " bytes",
        std::to_string(free_bytes) + " of its " + std::to_string(total_bytes) + " bytes are free",
        "Read a part of it, by more ranks with a GPU each, or into the host's memory.");
  }
  return {data, [](void* memory) { cudaFree(memory); }};
}

}  // namespace warpfold::cuda
