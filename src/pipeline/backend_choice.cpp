#include "pipeline/backend_choice.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cpu/backend.hpp"
#include "cpu/thread_binding.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// A rank's GPU, and how the ranks of its host meet on theirs.
struct PlaceOnHost {
  int device = 0;
  int sharing_processes = 1;       ///< on this GPU
  std::size_t ranks_with_gpu = 0;  ///< on this host
  std::size_t distinct_gpus = 0;
};

Error more_ranks_than_gpus(const PlaceOnHost& place, int ranks) {
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
PlaceOnHost place_on_host(const std::vector<cuda::DeviceInfo>& devices,
                          const mpi::Communicator& host) {
  PlaceOnHost place;
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

BackendPlace choose_place(const RunOptions& options, const mpi::Communicator& communicator) {
  const mpi::Communicator host = communicator.on_this_host();
  std::vector<cuda::DeviceInfo> devices;
  if (options.backend != BackendChoice::cpu) devices = cuda::visible_devices();
  run_on_all(communicator, [&] {
    if (options.backend == BackendChoice::cuda && devices.empty())
      throw Error("no GPU to run on", cuda::unavailable_reason(),
                  "Use --backend cpu, or a host and a build with CUDA.");
  });
  const PlaceOnHost on_host = place_on_host(devices, host);
  run_on_all(communicator, [&] {
    if (on_host.distinct_gpus < on_host.ranks_with_gpu && !options.share_gpu)
      throw more_ranks_than_gpus(on_host, host.size());
  });
  BackendPlace place;
  place.threads = options.threads > 0 ? options.threads : share_of_cores(host);
  if (!devices.empty()) {
    place.gpu = {on_host.device, options.device_memory_bytes, on_host.sharing_processes};
    const cuda::DeviceInfo& mine = devices[static_cast<std::size_t>(on_host.device)];
    place.near_gpu = cpu::hardware_threads_near(mine.pci_bus_id);
  } else if (options.backend == BackendChoice::automatic) {
    place.fallback = cuda::unavailable_reason();
  }
  return place;
}

std::unique_ptr<Backend> make_backend(const BackendPlace& place) {
  return place.gpu ? cuda::make_backend(*place.gpu) : cpu::make_backend(place.threads);
}

StartingBackend::StartingBackend(std::function<std::unique_ptr<Backend>()> make)
    : starting_(std::async(std::launch::async, std::move(make))) {}

Backend& StartingBackend::get() {
  if (!backend_) backend_ = starting_.get();
  return *backend_;
}

ChosenBackend choose_backend(const RunOptions& options, const mpi::Communicator& communicator) {
  const BackendPlace place = choose_place(options, communicator);
  ChosenBackend chosen{nullptr, place.fallback, place.threads};
  run_on_all(communicator, [&] { chosen.backend = make_backend(place); });
  return chosen;
}

RunReport describe_run(const ChosenBackend& chosen, const mpi::Communicator& communicator) {
  return describe_run(*chosen.backend, chosen.fallback, communicator);
}

RunReport describe_run(const Backend& backend, const std::string& fallback,
                       const mpi::Communicator& communicator) {
  RunReport report;
  report.ranks = communicator.size();
  report.hosts = mpi::count_hosts(communicator);
  report.devices = mpi::gather_everywhere(backend.device(), communicator);
  report.fallback = fallback;
  const auto names = mpi::gather_everywhere(backend.name(), communicator);
  const std::set<std::string> distinct(names.begin(), names.end());
  for (const std::string& name : distinct)
    report.backend += (report.backend.empty() ? "" : "+") + name;
  return report;
}

}  // namespace warpfold::pipeline
