#include <gtest/gtest.h>

#include "cuda/runtime/visible_devices.hpp"
#include "pipeline/arrays/array_collectives.hpp"
#include "pipeline/arrays/device_array_suite.hpp"
#include "pipeline/arrays/faulty_array_engine.hpp"
#include "warpfold/device_collectives.hpp"

namespace warpfold {
namespace {

/// Collective operations of ranks without a GPU.
class EmulatedDevice {
 public:
  explicit EmulatedDevice(const mpi::Communicator& communicator) : communicator_(communicator) {}

  static std::string missing() { return ""; }

  template <class T>
  Summary reduce(const std::vector<T>& mine, const DeviceReduceOptions& options) {
    return reduce(device_array(mine.data(), mine.size()), options);
  }

  Summary reduce(const DeviceArray& mine, const DeviceReduceOptions& options) {
    return pipeline::reduce_array(mine, options, nullptr, engine_, communicator_);
  }

  template <class Out, class T>
  std::vector<Out> scan(const std::vector<T>& mine, const DeviceScanOptions& options) {
    std::vector<Out> prefixes(mine.size());
    scan(device_array(mine.data(), mine.size()), prefixes.data(), options);
    return prefixes;
  }

  void scan(const DeviceArray& mine, void* output, const DeviceScanOptions& options) {
    pipeline::scan_array(mine, output, options, nullptr, engine_, communicator_);
  }

  pipeline::FaultyArrayEngine& engine() { return engine_; }

 private:
  const mpi::Communicator& communicator_;
  pipeline::FaultyArrayEngine engine_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(WithoutAGpu, DeviceArraysOfRanks, EmulatedDevice);

class DeviceArrayErrors : public DeviceArraysOfRanks<EmulatedDevice> {
 protected:
  /// Every rank meets the last one's mistake, and the next call succeeds.
  void expect_refused(const DeviceArray& wrong, const std::string& why) {
    const std::vector<double> right(10, 1.0);
    std::vector<double> prefixes(10);
    const DeviceArray array =
        communicator_.is_last() ? wrong : device_array(right.data(), right.size());
    EXPECT_TRUE(error_of([&] { arrays_->reduce(array, {}); }).ends_with(why));
    const auto scan = [&] { arrays_->scan(array, prefixes.data(), scan_of(ScanOperation::max)); };
    EXPECT_TRUE(error_of(scan).ends_with(why));
    expect_reduced(right, everything());
  }

  const std::vector<double> elements_ = std::vector<double>(11, 2.0);
};

TEST_F(DeviceArrayErrors, NullReachesEveryRank) {
  expect_refused({nullptr, 10, ElementType::f64},
                 "is null: it has 10 elements. Pass its address, or no elements.");
}

TEST_F(DeviceArrayErrors, AnAddressBetweenElementsReachesEveryRank) {
  const auto* between = reinterpret_cast<const std::byte*>(elements_.data()) + 4;
  expect_refused({between, 10, ElementType::f64},
                 "is not aligned to its elements: they have 8 bytes. Pass the address of an "
                 "element.");
}

TEST_F(DeviceArrayErrors, MemoryElsewhereReachesEveryRank) {
  arrays_->engine().elsewhere = elements_.data();
  expect_refused(device_array(elements_.data(), 10), "an array is elsewhere.");
}

TEST_F(DeviceArrayErrors, ADeviceLostInTheReduceReachesEveryRank) {
  arrays_->engine().fails_at_result = communicator_.is_last();
  EXPECT_EQ(error_of([&] { arrays_->reduce(elements_, {}); }), "the device is lost.");
  arrays_->engine().fails_at_result = false;
  expect_reduced(elements_, everything());
}

TEST_F(DeviceArrayErrors, OverlappingOutputIsRefusedAndItsOwnPlaceIsNot) {
  std::vector<std::int64_t> elements(100, 3);
  const DeviceArray input = device_array(elements.data(), 50);
  const DeviceScanOptions options = scan_of(ScanOperation::min);
  EXPECT_TRUE(error_of([&] {
                arrays_->scan(input, elements.data() + 49, options);
              }).starts_with("input and output of a scan overlap"));
  EXPECT_NO_THROW(arrays_->scan(input, elements.data() + 50, options));
  EXPECT_NO_THROW(arrays_->scan(input, elements.data(), options));
}

TEST(DeviceCollectives, ThrowOnEveryRankWhereThereIsNoGpu) {
  if (!cuda::visible_devices().empty()) GTEST_SKIP() << "there is a GPU";
  try {
    const DeviceCollectives collectives(MPI_COMM_WORLD);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "there is no GPU for arrays in device memory");
  }
}

}  // namespace
}  // namespace warpfold
