#include "pipeline/backend_choice.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "cpu/backend.hpp"
#include "cuda/backend.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// A rank's GPU and how the ranks of its host meet on theirs.
struct DevicePlace {
  int device = 0;
  int sharing_processes = 1;       ///< on this GPU
  std::size_t ranks_with_gpu = 0;  ///< on this host
  std::size_t distinct_gpus = 0;
};

Error more_ranks_than_gpus(const DevicePlace& place, int ranks) {
  const std::string gpus = std::to_string(place.distinct_gpus);
  return Error("more ranks than GPUs on a host",
               std::to_string(place.ranks_with_gpu) + " ranks meet on " + gpus + " GPU" +
                   (place.distinct_gpus == 1 ? "" : "s"),
               "Run 'mpirun -np " + gpus + "' (or --ntasks-per-node=" + gpus +
                   "), or let ranks share a GPU with --share-gpu, or use --backend cpu; " +
                   std::to_string(ranks) + " ranks are on this host.");
}

/// With several devices visible a rank takes the one of its place on the host; with one (narrowed
/// by a scheduler, perhaps) that one. Collective over the host's ranks.
DevicePlace place_on_host(const std::vector<cuda::DeviceInfo>& devices,
                          const mpi::Communicator& host) {
  DevicePlace place;
  std::string mine;
  if (!devices.empty()) {
    place.device = host.rank() % static_cast<int>(devices.size());
    mine = devices[static_cast<std::size_t>(place.device)].identity;
  }
  std::vector<std::string> taken = mpi::gather_everywhere(mine, host);
  std::erase(taken, std::string());
  const std::set<std::string> distinct(taken.begin(), taken.end());
  place.sharing_processes = static_cast<int>(std::count(taken.begin(), taken.end(), mine));
  place.ranks_with_gpu = taken.size();
  place.distinct_gpus = distinct.size();
  return place;
}

/// A rank's share of the cores it may use: ranks bound to the same set divide it. Collective over
/// the host's ranks.
int share_of_cores(const mpi::Communicator& host) {
  const std::string mine = cpu::cpu_set();
  const std::vector<std::string> sets = mpi::gather_everywhere(mine, host);
  const auto sharing = static_cast<int>(std::count(sets.begin(), sets.end(), mine));
  return std::max(1, cpu::available_cores() / sharing);
}

}  // namespace

ChosenBackend choose_backend(const RunOptions& options, const mpi::Communicator& communicator) {
  const mpi::Communicator host = communicator.on_this_host();
  std::vector<cuda::DeviceInfo> devices;
  if (options.backend != BackendChoice::cpu) devices = cuda::visible_devices();
  run_on_all(communicator, [&] {
    if (options.backend == BackendChoice::cuda && devices.empty())
      throw Error("no GPU to run on", cuda::unavailable_reason(),
                  "Use --backend cpu, or a host and a build with CUDA.");
  });
  const DevicePlace place = place_on_host(devices, host);
  run_on_all(communicator, [&] {
    if (place.distinct_gpus < place.ranks_with_gpu && !options.share_gpu)
      throw more_ranks_than_gpus(place, host.size());
  });
  const int threads = options.threads > 0 ? options.threads : share_of_cores(host);
  ChosenBackend chosen;
  run_on_all(communicator, [&] {
    if (!devices.empty()) {
      chosen.backend =
          cuda::make_backend({place.device, options.device_memory_bytes, place.sharing_processes});
    } else {
      chosen.backend = cpu::make_backend(threads);
      if (options.backend == BackendChoice::automatic) chosen.fallback = cuda::unavailable_reason();
    }
  });
  return chosen;
}

RunReport describe_run(const ChosenBackend& chosen, const mpi::Communicator& communicator) {
  RunReport report;
  report.ranks = communicator.size();
  report.hosts = mpi::count_hosts(communicator);
  report.devices = mpi::gather_everywhere(chosen.backend->device(), communicator);
  report.fallback = chosen.fallback;
  const auto names = mpi::gather_everywhere(chosen.backend->name(), communicator);
  const std::set<std::string> distinct(names.begin(), names.end());
  for (const std::string& name : distinct)
    report.backend += (report.backend.empty() ? "" : "+") + name;
  return report;
}

}  // namespace warpfold::pipeline
