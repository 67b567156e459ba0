#include "cuda/histogram/device_bins.hpp"

#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {
namespace {

struct BinArrays {
  std::uint64_t* keys;
  std::uint32_t* first_bins;
  unsigned long long* counters;
};

BinArrays take_bin_arrays(Scratch& memory, std::uint64_t edges) {
  return {memory.take<std::uint64_t>(edges), memory.take<std::uint32_t>(edges),
          memory.take<unsigned long long>(edges - 1 + kernels::outside_counters)};
}

}  // namespace

DeviceBins::DeviceBins(ElementType type, const std::vector<std::uint64_t>& keys)
    : memory_(bytes(keys)) {
  const kernels::BinIndex index = kernels::bin_index(type, keys);
  Scratch memory(memory_.data());
  const BinArrays arrays = take_bin_arrays(memory, keys.size());
  const Stream stream;
  copy_to_device(arrays.keys, keys.data(), keys.size() * sizeof(std::uint64_t), stream.get());
  copy_to_device(arrays.first_bins, index.first_bins.data(),
                 index.first_bins.size() * sizeof(std::uint32_t), stream.get());
  bins_ = {.table = {arrays.keys, index.cells, arrays.first_bins},
           .count = keys.size() - 1,
           .first_key = keys.front(),
           .end_key = keys.back(),
           .counters = arrays.counters};
  clear(stream.get());
  stream.synchronize();
}

std::uint64_t DeviceBins::bytes(const std::vector<std::uint64_t>& keys) {
  Scratch memory;
  take_bin_arrays(memory, keys.size());
  return memory.bytes();
}

void DeviceBins::clear(cudaStream_t stream) const {
  fill_bytes(bins_.counters, 0, counters() * sizeof(*bins_.counters), stream);
}

void DeviceBins::count(const std::byte* elements, std::uint64_t count, ElementFormat format,
                       const std::uint64_t* selected, cudaStream_t stream) const {
  kernels::histogram({elements, count, format, selected, bins_}, stream);
}

HistogramCounts DeviceBins::counts() const {
  const Stream stream;
  HistogramCounts result;
  result.bins = downloaded_array<std::uint64_t>(bins_.counters, counters(), stream.get());
  const std::uint64_t* outside = result.bins.data() + bins_.count;
  const auto counter = [outside](kernels::OutsideBins where) {
    return outside[static_cast<unsigned>(where)];
  };
  result.below = counter(kernels::OutsideBins::below);
  result.above = counter(kernels::OutsideBins::above);
  result.nan = counter(kernels::OutsideBins::nan);
  result.bins.resize(bins_.count);
  return result;
}

}  // namespace warpfold::cuda
