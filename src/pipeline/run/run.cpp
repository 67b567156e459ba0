#include "pipeline/run/run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/engines/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/placement.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

GpuPlacement placement_on(const mpi::Communicator& host, const GpuView& mine) {
  std::vector<GpuView> views;
  for (const std::string& text : mpi::gather_everywhere(to_text(mine), host))
    views.push_back(gpu_view(text));
  return GpuPlacement(std::move(views));
}

/// Returns a rank's share of the cores it may use: ranks bound to the same set divide it.
/// Collective over the host's ranks.
int share_of_cores(const mpi::Communicator& host) {
  const std::string mine = cpu::cpu_set();
  const std::vector<std::string> sets = mpi::gather_everywhere(mine, host);
  const auto sharing = static_cast<int>(std::count(sets.begin(), sets.end(), mine));
  return std::max(1, cpu::available_cores() / sharing);
}

/// Returns the text of the lowest rank that has one. Collective.
std::string first_nonempty(const std::string& text, const mpi::Communicator& communicator) {
  const std::vector<std::string> texts = mpi::gather_everywhere(text, communicator);
  const auto found = std::ranges::find_if_not(texts, &std::string::empty);
  return found == texts.end() ? "" : *found;
}

/// Returns the place to begin with where the program chooses.
BackendPlacement place_on_cores(const RunOptions& options, const mpi::Communicator& communicator) {
  RunOptions on_cores = options;
  on_cores.backend = BackendChoice::cpu;
  BackendPlacement place = choose_place(on_cores, communicator);
  if (installed_gpus() > 0) place.fallback = "cores are expected to be faster than a GPU";
  return place;
}

/// Returns the stages of the start since the run's last report.
std::vector<StageTiming> new_start_stages(Run& run) {
  std::vector<StageTiming> stages{run.starting_gpu.timing(), run.opening.timing(),
                                  run.reserving.timing()};
  if (!run.place.gpu) stages.front().seconds = 0;  // there is none
  for (std::size_t i = 0; i < stages.size(); ++i)
    stages[i].seconds -= std::exchange(run.reported_seconds[i], stages[i].seconds);
  return stages;
}

/// Returns the names of all ranks' backends.
std::string backend_names(bool cpu, bool cuda, const mpi::Communicator& communicator) {
  const std::vector<double> used = mpi::maximum({cpu ? 1.0 : 0.0, cuda ? 1.0 : 0.0}, communicator);
  if (used[0] == 0) return "cuda";
  return used[1] == 0 ? "cpu" : "cpu+cuda";
}

/// Tells of a run on `backend` and, unless null, on `cores` beside it. Collective.
RunReport describe_run(const Backend& backend, const Backend* cores, const BackendPlacement& place,
                       const mpi::Communicator& communicator) {
  RunReport report;
  report.ranks = communicator.size();
  report.hosts = mpi::count_hosts(communicator);
  report.devices = mpi::gather_everywhere(
      backend.device() + (cores == nullptr ? "" : " and " + cores->device()), communicator);
  const bool cuda = backend.name() == "cuda";
  report.backend = backend_names(!cuda || cores != nullptr, cuda, communicator);
  report.fallback = place.fallback;
  report.binding_note = first_nonempty(place.binding_note, communicator);
  return report;
}

}  // namespace

BackendPlacement choose_place(const RunOptions& options, const mpi::Communicator& communicator,
                              StageTimer* starting) {
  const mpi::Communicator host = communicator.on_this_host();
  std::vector<cuda::DeviceInfo> devices;
  if (options.backend != BackendChoice::cpu)
    devices = starting ? starting->time(0, cuda::visible_devices) : cuda::visible_devices();
  run_on_all(communicator, [&] {
    if (options.backend == BackendChoice::cuda && devices.empty())
      throw Error("no GPU to run on", cuda::unavailable_reason(),
                  "Use `backend` cpu, or a host and a build with CUDA.");
  });
  const GpuPlacement placement = placement_on(host, view_of(communicator.rank(), devices));
  run_on_all(communicator, [&] {
    if (!options.share_gpu) placement.refuse_sharing(mpi::host_name(), installed_gpus());
  });
  BackendPlacement place;
  CoreBinding binding{host.size(), cpu::host_cores(), share_of_cores(host), options.threads};
  place.threads = options.threads > 0 ? options.threads : binding.cores;
  const auto host_rank = static_cast<std::size_t>(host.rank());
  if (const std::optional<int> device = placement.device(host_rank)) {
    place.gpu = {*device, options.device_memory_bytes, placement.sharing(host_rank)};
    const std::string& bus_id = devices[static_cast<std::size_t>(*device)].pci_bus_id;
    place.near_gpu = cpu::hardware_threads_near(bus_id);
    binding.far_from_gpu = cpu::is_far_from(bus_id);
  } else if (options.backend == BackendChoice::automatic && installed_gpus() > 0) {
    place.fallback = cuda::unavailable_reason();
  }
  if (mpi::started_by_launcher(communicator)) place.binding_note = binding_note(binding);
  return place;
}

std::unique_ptr<Backend> make_backend(const BackendPlacement& place) {
  return place.gpu ? cuda::make_backend(*place.gpu) : cpu::make_backend(place.threads);
}

ChosenBackend choose_backend(const RunOptions& options, const mpi::Communicator& communicator) {
  const BackendPlacement place = choose_place(options, communicator);
  ChosenBackend chosen{nullptr, place};
  run_on_all(communicator, [&] { chosen.backend = make_backend(place); });
  return chosen;
}

RunReport describe_run(const ChosenBackend& chosen, const mpi::Communicator& communicator) {
  return describe_run(*chosen.backend, nullptr, chosen.place, communicator);
}

void check_slab_bytes(std::uint64_t slab_bytes) {
  constexpr std::uint64_t smallest_slab_bytes = std::uint64_t{4} << 10;
  constexpr std::uint64_t largest_slab_bytes = std::uint64_t{1} << 30;
  if (slab_bytes != 0 && (slab_bytes < smallest_slab_bytes || slab_bytes > largest_slab_bytes))
    throw usage_error("bad `slab_bytes` " + std::to_string(slab_bytes), "a slab has 4K to 1G bytes",
                      "Try `slab_bytes` 16M.");
}

Run::Run(MPI_Comm parent, const RunOptions& run_options, std::uint64_t quantiles_along_axes)
    : options(run_options),
      external_files(options.external),
      monitor(options),
      opening(monitor.stages(), stage::open),
      reserving(monitor.stages(), stage::reserve),
      starting_gpu(monitor.stages(), stage::start_gpu),
      communicator(parent),
      line_quantiles(quantiles_along_axes) {
  run_on_all(communicator, [&] { check_slab_bytes(options.slab_bytes); });
  is_chosen_ = options.backend != BackendChoice::automatic || !cuda::built();
  start_at(is_chosen_ ? choose_place(options, communicator, &starting_gpu)
                      : place_on_cores(options, communicator));
}

void Run::choose_backend_for(const io::DatasetInfo& info) {
  if (is_chosen_) return;
  const double for_gpu =
      cores_are_sooner(info, place.threads, communicator.size(), line_quantiles) ? 0 : 1;
  is_chosen_ = mpi::maximum({for_gpu}, communicator).front() > 0;
  if (is_chosen_) start_at(choose_place(options, communicator, &starting_gpu));
}

bool Run::shares(const io::DatasetInfo& info) const {
  return options.backend == BackendChoice::automatic && place.gpu &&
         has_many_compressed(info, place.threads, communicator.size());
}

HostItems* Run::share_items(std::uint64_t items, int threads) {
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  if (ranks == 1 || items <= 2 * ranks) return nullptr;
  if (!host_items_) host_items_ = std::make_unique<HostItems>(communicator);
  host_items_->begin(items, threads);
  return host_items_.get();
}

void Run::note(const std::string& text) {
  if (!text.empty() && std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(text);
}

Backend& Run::cores() {
  if (!place.gpu) return *backend;
  if (!cores_beside_gpu) cores_beside_gpu = cpu::make_backend(place.threads);
  return *cores_beside_gpu;
}

void Run::start_at(BackendPlacement chosen) {
  place = std::move(chosen);
  backend = MadeOnce<Backend>(std::launch::async, [this, where = place] {
    if (!where.gpu) return make_backend(where);
    return starting_gpu.time(0, [&] { return make_backend(where); });
  });
}

RunReport describe_run(const Run& run) {
  run_on_all(run.communicator, [&] { run.backend.get(); });
  return describe_run(*run.backend, run.cores_beside_gpu.get(), run.place, run.communicator);
}

RunReport report_of(Run& run, const std::vector<StageTiming>& stages,
                    std::chrono::steady_clock::time_point start) {
  RunReport report = describe_run(run);
  std::vector<StageTiming> all = stages;
  put_start_stages(all, new_start_stages(run));
  report.stages = busiest(all, run.communicator);
  report.notes = std::exchange(run.notes_, {});
  report.seconds = seconds_since(start);
  return report;
}

}  // namespace warpfold::pipeline
