#include "warpfold/device_collectives.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/gpu_test.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/lost_gpu/trap.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t elements = std::uint64_t{1} << 20;

/// The error of a call, the same on every rank.
Error error_of(const std::function<void()>& call, const mpi::Communicator& communicator) {
  Error error("no error", "", "");
  try {
    call();
  } catch (const Error& thrown) {
    error = thrown;
  }
  for (const std::string& other : mpi::gather_everywhere(error.what(), communicator))
    EXPECT_EQ(other, error.what());
  return error;
}

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class LostGpu : public cuda::GpuTest {};

/// One test, as what a rank loses stays lost.
TEST_F(LostGpu, OfOneRankEndsTheCallsOfAll) {
  const mpi::Communicator communicator(MPI_COMM_WORLD);
  const auto gpus = static_cast<int>(cuda::visible_devices().size());
  cuda::Device(communicator.on_this_host().rank() % gpus, {}, 1).activate();
  DeviceCollectives collectives(MPI_COMM_WORLD);
  const cuda::DeviceBuffer memory(elements * sizeof(double));
  cuda::fill_bytes(memory.data(), 0, memory.size(), nullptr);
  const DeviceArray array{memory.data(), elements, ElementType::f64};
  collectives.reduce(array);
  collectives.scan(array, memory.data());
  cuda::synchronize(nullptr);

  if (communicator.is_last()) trap(nullptr);
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { collectives.reduce(array); }, [&] { collectives.scan(array, memory.data()); },
           [&] { collectives.reduce(array); }}) {
    const Error error = error_of(call, communicator);
    EXPECT_TRUE(error.problem().starts_with("GPU 0")) << error.what();
    EXPECT_TRUE(error.problem().ends_with(" of " + this_host() + " was lost")) << error.what();
    EXPECT_NE(error.why().find("cudaErrorLaunchFailure"), std::string::npos) << error.what();
    EXPECT_NE(error.suggestion().find("nvidia-smi -q"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace warpfold
