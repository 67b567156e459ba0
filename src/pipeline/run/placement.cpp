#include "pipeline/run/placement.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// Gives ranks GPUs of their own, as many as can have one: augmenting paths in a bipartite graph.
class GpuMatching {
 public:
  explicit GpuMatching(const std::vector<GpuView>& views) : views_(views) {
    for (std::size_t rank = 0; rank < views.size(); ++rank) {
      std::set<std::string> asked;
      place(rank, asked);
    }
  }

  /// Returns the matched ranks by GPU.
  const std::map<std::string, std::size_t>& ranks() const { return ranks_; }

 private:
  /// Takes a free GPU if there is one, else the GPU of a rank that can go to another.
  bool place(std::size_t rank, std::set<std::string>& asked) {
    for (const bool free : {true, false})
      for (std::size_t i = 0; i < views_[rank].gpus.size(); ++i) {
        const std::string& gpu = in_turn(rank, i);
        const auto holder = ranks_.find(gpu);
        if ((holder == ranks_.end()) != free || !asked.insert(gpu).second) continue;
        if (!free && !place(holder->second, asked)) continue;
        ranks_[gpu] = rank;
        return true;
      }
    return false;
  }

  /// From the rank's place on the host on.
  const std::string& in_turn(std::size_t rank, std::size_t i) const {
    const std::vector<SeenGpu>& gpus = views_[rank].gpus;
    return gpus[(rank + i) % gpus.size()].identity;
  }

  const std::vector<GpuView>& views_;
  std::map<std::string, std::size_t> ranks_;
};

std::vector<std::optional<int>> usual_devices(const std::vector<GpuView>& views) {
  std::vector<std::optional<int>> devices;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const std::size_t seen = views[rank].gpus.size();
    devices.push_back(seen == 0 ? std::nullopt : std::optional(static_cast<int>(rank % seen)));
  }
  return devices;
}

/// "ranks 0 to 3 see 0000:3b:00.0 by CUDA_VISIBLE_DEVICES=0"; of several views, the first few.
std::string sights(const std::vector<GpuView>& views) {
  constexpr int max_listed = 4;
  std::string text;
  int listed = 0;
  for (auto first = views.begin(); first != views.end() && listed < max_listed; ++listed) {
    const auto end = std::find_if(first, views.end(), [&](const GpuView& other) {
      return other.gpus != first->gpus || other.narrowed_by != first->narrowed_by;
    });
    const auto last = std::prev(end);
    text += (text.empty() ? "rank" : "; rank") +
            (last == first ? " " + std::to_string(first->rank) + " sees"
                           : "s " + std::to_string(first->rank) + " to " +
                                 std::to_string(last->rank) + " see");
    for (const SeenGpu& gpu : first->gpus) text += " " + gpu.pci_bus_id;
    if (first->gpus.empty()) text += " none";
    if (!first->narrowed_by.empty()) text += " by CUDA_VISIBLE_DEVICES=" + first->narrowed_by;
    first = end;
  }
  return text;
}

constexpr const char* leave_visible =
    "Make all GPUs visible to every rank, which takes the one of its place on the host. Set no "
    "CUDA_VISIBLE_DEVICES by SLURM_LOCALID, which is 0 on all ranks under mpirun. In Slurm use "
    "--gpus-per-node instead of --gpus-per-task. Or let ranks share a GPU with `share_gpu`, or use "
    "`backend` cpu.";

std::string fewer_ranks(std::size_t gpus) {
  const std::string number = std::to_string(gpus);
  return "Run 'mpirun -np " + number + "' (or --ntasks-per-node=" + number +
         "), or let ranks share a GPU with `share_gpu`, or use `backend` cpu.";
}

/// Counts the GPUs whose device files this host, or a container on it, has.
std::size_t usable_gpus() {
  std::size_t gpus = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", none)) {
    const std::string name = entry.path().filename();
    constexpr std::string_view prefix = "nvidia";
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      ++gpus;
  }
  return gpus;
}

/// A smaller gain is not worth a word.
constexpr int min_core_gain = 2;

std::string cores_text(int cores) {
  return std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace

GpuView view_of(int rank, const std::vector<cuda::DeviceInfo>& devices) {
  GpuView view;
  view.rank = rank;
  for (const cuda::DeviceInfo& device : devices)
    view.gpus.push_back({device.identity, device.pci_bus_id});
  if (const char* value = std::getenv("CUDA_VISIBLE_DEVICES"); value != nullptr)
    view.narrowed_by = value;
  return view;
}

std::string to_text(const GpuView& view) {
  std::ostringstream text;
  text << view.rank << ' ' << view.gpus.size();
  for (const SeenGpu& gpu : view.gpus) text << ' ' << gpu.identity << ' ' << gpu.pci_bus_id;
  text << ' ' << view.narrowed_by;
  return text.str();
}

GpuView gpu_view(const std::string& text) {
  std::istringstream in(text);
  GpuView view;
  std::size_t gpus = 0;
  in >> view.rank >> gpus;
  view.gpus.resize(gpus);
  for (SeenGpu& gpu : view.gpus) in >> gpu.identity >> gpu.pci_bus_id;
  in.ignore();
  std::getline(in, view.narrowed_by);
  return view;
}

GpuPlacement::GpuPlacement(std::vector<GpuView> views)
    : views_(std::move(views)), devices_(usual_devices(views_)) {
  const GpuMatching matching(views_);
  for (const auto& [gpu, rank] : matching.ranks()) {
    const auto same = [&gpu = gpu](const SeenGpu& seen) { return seen.identity == gpu; };
    const auto& gpus = views_[rank].gpus;
    devices_[rank] = static_cast<int>(std::ranges::find_if(gpus, same) - gpus.begin());
  }
}

const std::string& GpuPlacement::identity(std::size_t host_rank) const {
  return views_[host_rank].gpus[static_cast<std::size_t>(*devices_[host_rank])].identity;
}

int GpuPlacement::sharing(std::size_t host_rank) const {
  int ranks = 0;
  for (std::size_t other = 0; other < views_.size(); ++other)
    if (devices_[other] && identity(other) == identity(host_rank)) ++ranks;
  return ranks;
}

void GpuPlacement::refuse_sharing(const std::string& host, std::size_t installed) const {
  std::size_t ranks = 0;
  std::set<std::string> taken;
  bool narrowed = false;
  for (std::size_t rank = 0; rank < views_.size(); ++rank) {
    if (!devices_[rank]) continue;
    ++ranks;
    taken.insert(identity(rank));
    narrowed = narrowed || !views_[rank].narrowed_by.empty();
  }
  if (ranks == taken.size()) return;
  std::string why = std::to_string(ranks) + " ranks share " + std::to_string(taken.size()) +
                    " GPU" + (taken.size() == 1 ? "" : "s") + " of " + host + " (" +
                    sights(views_) + ")";
  const bool more_installed = installed > taken.size();
  if (more_installed) why += ", and the host has " + std::to_string(installed);
  throw Error("more ranks than GPUs on a host", why,
              narrowed && more_installed ? leave_visible : fewer_ranks(taken.size()));
}

std::optional<std::string> own_gpu(const std::vector<std::optional<std::string>>& visible,
                                   std::size_t host_rank, std::size_t usable) {
  const auto differs = [&](const auto& value) { return value != visible.front(); };
  if (std::ranges::any_of(visible, differs)) return std::nullopt;
  if (!visible.front())
    return visible.size() <= usable ? std::optional(std::to_string(host_rank)) : std::nullopt;
  std::vector<std::string> gpus;
  std::istringstream list(*visible.front());
  for (std::string gpu; std::getline(list, gpu, ',');) gpus.push_back(gpu);
  return visible.size() <= gpus.size() ? std::optional(gpus[host_rank]) : std::nullopt;
}

void hide_other_gpus(const mpi::Communicator& communicator) {
  if (!cuda::built()) return;
  constexpr const char* variable = "CUDA_VISIBLE_DEVICES";
  const mpi::Communicator host = communicator.on_this_host();
  const char* value = std::getenv(variable);
  std::vector<std::optional<std::string>> visible;
  for (const std::string& text :
       mpi::gather_everywhere(value == nullptr ? "" : "=" + std::string(value), host))
    visible.push_back(text.empty() ? std::nullopt : std::optional(text.substr(1)));
  const auto gpu = own_gpu(visible, static_cast<std::size_t>(host.rank()), usable_gpus());
  if (gpu) setenv(variable, gpu->c_str(), 1);
}

std::size_t installed_gpus() {
  std::error_code none;
  const std::filesystem::directory_iterator gpus("/proc/driver/nvidia/gpus", none);
  return none ? 0 : static_cast<std::size_t>(std::distance(begin(gpus), end(gpus)));
}

std::string binding_note(const CoreBinding& binding) {
  const int share = binding.host_cores / binding.host_ranks;
  const bool wants_more = binding.threads == 0 || binding.threads > binding.cores;
  if (wants_more && share >= min_core_gain * binding.cores) {
    const std::string threads =
        binding.threads > 0 ? std::to_string(binding.threads) + " threads" : "the threads";
    return threads + " of a rank are bound to " + cores_text(binding.cores) + " but could use " +
           std::to_string(share) +
           ". Start with 'mpirun --bind-to none', or 'srun --cpus-per-task=" +
           std::to_string(share) + "'.";
  }
  if (binding.far_from_gpu)
    return "a rank is bound to cores that are not on the NUMA node of its GPU. Start with 'mpirun "
           "--bind-to none', or 'srun --gpu-bind=closest'.";
  return "";
}

}  // namespace warpfold::pipeline
