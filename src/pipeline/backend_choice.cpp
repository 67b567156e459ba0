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

/// A rank's GPU and how many of its host's ranks use the same one.
struct DevicePlace {
  int device = 0;
  int sharing_processes = 1;
};

std::string more_ranks_than_gpus(int ranks, std::size_t gpus) {
  const std::string number = std::to_string(gpus);
  return "Run 'mpirun -np " + number + "' (or --ntasks-per-node=" + number +
         "), or let ranks share a GPU with --share-gpu, or use --backend cpu; " +
         std::to_string(ranks) + " ranks are on this host.";
}

/// With several devices visible a rank takes the one of its place on the host; with one (narrowed
/// by a scheduler, perhaps) that one. Collective over the host's ranks.
DevicePlace place_on_host(const std::vector<cuda::DeviceInfo>& devices, bool share,
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
  if (distinct.size() < taken.size() && !share)
    throw Error("more ranks than GPUs on a host",
                std::to_string(taken.size()) + " ranks meet on " + std::to_string(distinct.size()) +
                    " GPU" + (distinct.size() == 1 ? "" : "s"),
                more_ranks_than_gpus(host.size(), distinct.size()));
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
  DevicePlace place;
  std::exception_ptr failure;
  try {
    place = place_on_host(devices, options.share_gpu, host);
  } catch (const Error&) {
    failure = std::current_exception();
  }
  mpi::settle(failure, communicator);

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
