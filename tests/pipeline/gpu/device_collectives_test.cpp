#include "warpfold/device_collectives.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/gpu_test.hpp"
#include "pipeline/arrays/device_array_suite.hpp"

namespace warpfold {
namespace {

/// Elements on the device, `offset` of their size behind an aligned address.
template <class T>
class OnDevice {
 public:
  OnDevice(const std::vector<T>& elements, cudaStream_t stream, std::uint64_t offset = 1)
      : count_(elements.size()), offset_(offset), memory_((count_ + offset) * sizeof(T)) {
    cuda::copy_to_device(data(), elements.data(), count_ * sizeof(T), stream);
  }
  explicit OnDevice(std::uint64_t count, std::uint64_t offset = 1)
      : count_(count), offset_(offset), memory_((count + offset) * sizeof(T)) {}

  T* data() const { return reinterpret_cast<T*>(memory_.data()) + offset_; }
  DeviceArray array() const { return device_array(data(), count_); }

  std::vector<T> copied(cudaStream_t stream) const {
    std::vector<T> elements(count_);
    cuda::copy_to_host(elements.data(), data(), count_ * sizeof(T), stream);
    cuda::synchronize(stream);
    return elements;
  }

 private:
  std::uint64_t count_;
  std::uint64_t offset_;
  cuda::DeviceBuffer memory_;
};

/// Ranks of a host take its GPUs in turn.
DeviceCollectives on_own_gpu(const mpi::Communicator& communicator) {
  const auto gpus = static_cast<int>(cuda::visible_devices().size());
  cuda::Device(communicator.on_this_host().rank() % gpus, {}, 1).activate();
  return DeviceCollectives(communicator.get());
}

class GpuArrays {
 public:
  explicit GpuArrays(const mpi::Communicator& communicator)
      : collectives_(on_own_gpu(communicator)) {}

  static std::string missing() { return cuda::missing_gpu(); }

  template <class T>
  Summary reduce(const std::vector<T>& mine, const DeviceReduceOptions& options) {
    const OnDevice<T> elements(mine, stream_.get());
    return collectives_.reduce(elements.array(), options, stream_.get());
  }

  template <class Out, class T>
  std::vector<Out> scan(const std::vector<T>& mine, const DeviceScanOptions& options) {
    const OnDevice<T> elements(mine, stream_.get());
    const OnDevice<Out> prefixes(mine.size());
    collectives_.scan(elements.array(), prefixes.data(), options, stream_.get());
    return prefixes.copied(stream_.get());
  }

  DeviceCollectives& collectives() { return collectives_; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  DeviceCollectives collectives_;
  cuda::Stream stream_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(OnGpus, DeviceArraysOfRanks, GpuArrays);

class DeviceCollectivesOfRanks : public DeviceArraysOfRanks<GpuArrays> {
 protected:
  template <class T>
  std::vector<T> my_part(const std::vector<T>& whole) const {
    return part_of(whole, mine(uneven_cut(whole.size(), ranks())));
  }
};

TEST_F(DeviceCollectivesOfRanks, ScanInPlace) {
  const auto whole = made_up<std::uint32_t>(100003, 5);
  DeviceScanOptions options = scan_of(ScanOperation::sum);
  options.overflow = OverflowPolicy::wrap;
  options.output_type = ElementType::u32;
  const auto expected = scanned_at_once<std::uint32_t>(whole, options);
  const OnDevice<std::uint32_t> elements(my_part(whole), arrays_->stream());
  arrays_->collectives().scan(elements.array(), elements.data(), options, arrays_->stream());
  EXPECT_EQ(elements.copied(arrays_->stream()), my_part(expected));
}

TEST_F(DeviceCollectivesOfRanks, FastSumsAreThoseOfWholeNumbers) {
  std::vector<double> whole(100003);
  std::iota(whole.begin(), whole.end(), -50000.0);
  DeviceScanOptions options = scan_of(ScanOperation::sum);
  const auto expected = scanned_at_once<double>(whole, options);
  options.float_sums = FloatSums::fast;
  EXPECT_EQ(arrays_->scan<double>(my_part(whole), options), my_part(expected));
}

TEST_F(DeviceCollectivesOfRanks, FastSumsAreTheSameFromRunToRun) {
  DeviceScanOptions options = scan_of(ScanOperation::sum, true);
  options.float_sums = FloatSums::fast;
  const auto part = my_part(made_up<float>(1000003, 6));
  const auto first = arrays_->scan<float>(part, options);
  for (int run = 0; run < 5; ++run)
    EXPECT_TRUE(same_bits(arrays_->scan<float>(part, options), first));
}

TEST_F(DeviceCollectivesOfRanks, ScansInDifferentStreamsDoNotMeetInScratchMemory) {
  constexpr int streams = 4;
  const auto whole = made_up<double>(4 << 20, 7);
  const auto part = part_of(whole, mine(uneven_cut(whole.size(), ranks())));
  const DeviceScanOptions options = scan_of(ScanOperation::sum);
  const auto expected = arrays_->scan<double>(part, options);
  std::vector<OnDevice<double>> elements;
  for (int i = 0; i < streams; ++i) elements.emplace_back(part, arrays_->stream());
  cuda::synchronize(arrays_->stream());
  std::vector<cuda::Stream> own(streams);
  for (std::size_t i = 0; i < streams; ++i)
    arrays_->collectives().scan(elements[i].array(), elements[i].data(), options, own[i].get());
  for (std::size_t i = 0; i < streams; ++i)
    EXPECT_TRUE(same_bits(elements[i].copied(own[i].get()), expected));
}

TEST_F(DeviceCollectivesOfRanks, FreeFunctionsAndTheDefaultStreamServeOnce) {
  const auto whole = made_up<std::int64_t>(100003, 8);
  const auto part = my_part(whole);
  const OnDevice<std::int64_t> elements(part, nullptr);
  const Summary summary = reduce(MPI_COMM_WORLD, elements.array(), everything());
  EXPECT_EQ(summary, reduced_at_once(whole, everything()));
  const DeviceScanOptions options = scan_of(ScanOperation::max);
  scan(MPI_COMM_WORLD, elements.array(), elements.data(), options);
  const auto expected = scanned_at_once<std::int64_t>(whole, options);
  EXPECT_EQ(elements.copied(nullptr), my_part(expected));
}

TEST_F(DeviceCollectivesOfRanks, CountBeyondThirtyTwoBits) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 32) + 3;
  const ElementRange part = mine(uneven_cut(count, ranks()));
  const OnDevice<std::uint8_t> elements(part.count);
  cuda::fill_bytes(elements.data(), 1, part.count, arrays_->stream());
  if (part.count != 0 && part.end() == count)
    cuda::fill_bytes(elements.data() + part.count - 1, 2, 1, arrays_->stream());
  DeviceReduceOptions options;
  options.statistics = {Statistic::count, Statistic::sum, Statistic::argmin, Statistic::argmax};
  const Summary summary =
      arrays_->collectives().reduce(elements.array(), options, arrays_->stream());
  const std::vector<std::uint64_t> expected = {count, count + 1, 0, count - 1};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(summary[i].second, Value(static_cast<int128>(expected[i])));

  DeviceScanOptions wrapping = scan_of(ScanOperation::sum);
  wrapping.output_type = ElementType::u8;
  wrapping.overflow = OverflowPolicy::wrap;
  arrays_->collectives().scan(elements.array(), elements.data(), wrapping, arrays_->stream());
  std::vector<std::uint8_t> last(part.count == 0 ? 0 : 1);
  cuda::copy_to_host(last.data(), elements.data() + part.count - last.size(), last.size(),
                     arrays_->stream());
  cuda::synchronize(arrays_->stream());
  for (const std::uint8_t prefix : last)
    EXPECT_EQ(prefix, static_cast<std::uint8_t>(part.end() == count ? count + 1 : part.end()));
}

TEST_F(DeviceCollectivesOfRanks, HostMemoryIsRefusedOnEveryRank) {
  const std::vector<float> host(100, 1.0f);
  const OnDevice<float> device(host, arrays_->stream());
  const DeviceArray array =
      communicator_.is_last() ? device_array(host.data(), host.size()) : device.array();
  EXPECT_EQ(error_of([&] { arrays_->collectives().reduce(array); }),
            "an array is not in device memory: its address is the host's. Copy it to memory of "
            "cudaMalloc or cudaMallocManaged.");
  const auto scan = [&] {
    arrays_->collectives().scan(array, device.data(), scan_of(ScanOperation::max));
  };
  EXPECT_TRUE(error_of(scan).starts_with("an array is not in device memory"));
  expect_reduced(host, everything());
}

}  // namespace
}  // namespace warpfold
