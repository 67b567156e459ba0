#include <gtest/gtest.h>

#include "cuda/engines/backend.hpp"
#include "cuda/runtime/fp64.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "cuda/support/gpu_test.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

TEST(CudaDevices, AreVisibleOrTheReasonIsGiven) {
  EXPECT_EQ(visible_devices().empty(), !unavailable_reason().empty());
}

TEST(CudaDevices, ABackendWithoutADeviceIsRefusedWithTheReason) {
  if (!visible_devices().empty()) GTEST_SKIP() << "there is a device";
  try {
    make_backend({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.why(), unavailable_reason());
    EXPECT_NE(error.suggestion().find("`backend` cpu"), std::string::npos);
  }
}

TEST(CudaDevices, AnArchitectureHasTheKernelsThatItsDevicesMayPrefer) {
  for (const int architecture : {700, 720, 900}) {
    EXPECT_TRUE(compiles_with_fp64(architecture)) << architecture;
    EXPECT_FALSE(compiles_without_fp64(architecture)) << architecture;
  }
  for (const int architecture : {750, 860, 870, 890, 1030, 1100, 1200, 1210}) {
    EXPECT_FALSE(compiles_with_fp64(architecture)) << architecture;
    EXPECT_TRUE(compiles_without_fp64(architecture)) << architecture;
  }
  for (const int architecture : {800, 1000})
    EXPECT_TRUE(compiles_with_fp64(architecture) && compiles_without_fp64(architecture));
}

TEST(CudaDevices, TheBuildSaysWhatItIsFor) {
  if (built())
    EXPECT_EQ(build_description().rfind("CUDA ", 0), 0u) << build_description();
  else
    EXPECT_EQ(build_description(), "none");
}

using CudaDevice = GpuTest;

TEST_F(CudaDevice, HasANameAnIdentityAndMemory) {
  for (const DeviceInfo& device : visible_devices()) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_EQ(device.identity.size(), 32u);
    EXPECT_EQ(device.identity.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_GT(device.memory_bytes, 0u);
  }
}

TEST_F(CudaDevice, IsNamedByItsBackend) {
  const auto backend = make_backend({});
  EXPECT_EQ(backend->name(), "cuda");
  EXPECT_EQ(backend->device(), visible_devices().front().name);
}

TEST_F(CudaDevice, BeyondTheVisibleOnesIsRefused) {
  DeviceOptions options;
  options.device = static_cast<int>(visible_devices().size());
  EXPECT_THROW(make_backend(options), Error);
  options.device = -1;
  EXPECT_THROW(make_backend(options), Error);
}

}  // namespace
}  // namespace warpfold::cuda
