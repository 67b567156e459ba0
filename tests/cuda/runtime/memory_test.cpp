#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/gpu_test.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

using CudaResources = GpuTest;

TEST(CudaError, SaysActionNameAndText) {
  try {
    check(cudaErrorMemoryAllocation, "allocating GPU memory");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "allocating GPU memory failed");
    EXPECT_EQ(error.why(), "cudaErrorMemoryAllocation (out of memory)");
    EXPECT_FALSE(error.suggestion().empty());
  }
}

TEST(CudaError, IsSilentOnSuccess) { EXPECT_NO_THROW(check(cudaSuccess, "nothing")); }

TEST(CudaScratch, CountsWhatItWouldCut) {
  std::vector<std::byte> memory(4096);
  Scratch counted;
  EXPECT_EQ(counted.take<double>(3), nullptr);
  counted.take<char>(1);
  EXPECT_EQ(counted.bytes(), 512u);
  Scratch cut(memory.data());
  EXPECT_EQ(reinterpret_cast<std::byte*>(cut.take<double>(3)), memory.data());
  EXPECT_EQ(reinterpret_cast<std::byte*>(cut.take<char>(1)), memory.data() + 256);
}

TEST_F(CudaResources, BytesSurviveTheWayThroughTheGpu) {
  constexpr std::size_t size = 100003;
  PinnedBuffer sent(size);
  PinnedBuffer received(size);
  DeviceBuffer device(size);
  for (std::size_t i = 0; i < size; ++i) sent.data()[i] = static_cast<std::byte>(i * 7);
  const Stream stream;
  copy_to_device(device.data(), sent.data(), size, stream.get());
  copy_to_host(received.data(), device.data(), size, stream.get());
  stream.synchronize();
  EXPECT_EQ(std::memcmp(sent.data(), received.data(), size), 0);
}

TEST_F(CudaResources, FillSetsEveryByte) {
  DeviceBuffer device(1000);
  std::vector<unsigned char> received(1000);
  const Stream stream;
  fill_bytes(device.data(), 0xa5, 1000, stream.get());
  copy_to_host(received.data(), device.data(), 1000, stream.get());
  stream.synchronize();
  EXPECT_EQ(received, std::vector<unsigned char>(1000, 0xa5));
}

TEST_F(CudaResources, AnEventThatWasNeverRecordedDoesNotBlock) { Event().wait(); }

TEST_F(CudaResources, MovedBuffersLeaveNothingBehind) {
  DeviceBuffer first(64);
  const std::byte* const data = first.data();
  const DeviceBuffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.size(), 64u);
  PinnedBuffer third(64);
  PinnedBuffer fourth;
  fourth = std::move(third);
  EXPECT_EQ(fourth.span().size(), 64u);
}

TEST_F(CudaResources, AFailedAllocationThrowsAndIsForgotten) {
  EXPECT_THROW(DeviceBuffer(std::uint64_t{1} << 50), Error);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_NO_THROW(DeviceBuffer(64));
}

}  // namespace
}  // namespace warpfold::cuda
