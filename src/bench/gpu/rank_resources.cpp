#include "bench/gpu/rank_resources.hpp"

#include <algorithm>

#include "cpu/engines/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/runtime/device.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::bench {

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
