#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cuda/runtime/visible_devices.hpp"
#include "mpi/communicator.hpp"

/// Distributes a host's resources to its ranks: GPUs, by what they all see, and cores.
namespace warpfold::pipeline {

struct SeenGpu {
  std::string identity;    ///< the same for every process that sees it
  std::string pci_bus_id;  ///< "0000:3b:00.0"

  bool operator==(const SeenGpu&) const = default;
};

/// The GPUs that one rank sees, by their numbers there.
struct GpuView {
  int rank = 0;  ///< in the run
  std::vector<SeenGpu> gpus;
  std::string narrowed_by;  ///< the value of CUDA_VISIBLE_DEVICES, or empty

  bool operator==(const GpuView&) const = default;
};

/// Describes what this process sees: `devices`, and CUDA_VISIBLE_DEVICES.
GpuView view_of(int rank, const std::vector<cuda::DeviceInfo>& devices);

/// Writes a view as text, for other ranks, and reads it back.
std::string to_text(const GpuView& view);
GpuView gpu_view(const std::string& text);

/// Gives each rank of a host the GPU of its place on the host among those it sees, unless ranks
/// would meet that need not; ranks too many go through theirs in turn.
class GpuPlacement {
 public:
  /// Takes the `views` of the host's ranks, in order.
  explicit GpuPlacement(std::vector<GpuView> views);

  /// Returns the number that the rank knows its GPU by; none where it sees none.
  std::optional<int> device(std::size_t host_rank) const { return devices_[host_rank]; }

  /// Counts the ranks on the rank's GPU.
  int sharing(std::size_t host_rank) const;

  /// Throws Error where ranks share a GPU, which says what they see. `installed` is how many GPUs
  /// the host has, 0 where that isn't known.
  void refuse_sharing(const std::string& host, std::size_t installed) const;

 private:
  const std::string& identity(std::size_t host_rank) const;

  std::vector<GpuView> views_;
  std::vector<std::optional<int>> devices_;
};

/// Returns the entry of CUDA_VISIBLE_DEVICES by which the host's rank `host_rank` sees no GPU but
/// its own, where ranks have the values `visible` of it; none where ranks may need another choice.
/// Ranks without a value see `usable` GPUs.
std::optional<std::string> own_gpu(const std::vector<std::optional<std::string>>& visible,
                                   std::size_t host_rank, std::size_t usable);

/// Hides other ranks' GPUs from this process's CUDA, whose start takes a tenth of a second for each
/// GPU that it sees. Changes the environment; effective before the first call of CUDA. Collective.
void hide_other_gpus(const mpi::Communicator& communicator);

/// Counts the NVIDIA GPUs that the driver runs on this host, whoever may see them; 0 where it
/// doesn't tell.
std::size_t installed_gpus();

/// The cores of a rank that a launcher started.
struct CoreBinding {
  int host_ranks = 1;
  int host_cores = 1;         ///< that the host lets the job use
  int cores = 1;              ///< this rank's share of those it is bound to
  int threads = 0;            ///< requested; 0: none
  bool far_from_gpu = false;  ///< none of the cores is on the NUMA node of its GPU
};

/// Returns how the binding slows the rank and what to do, in full sentences; empty where it
/// doesn't.
std::string binding_note(const CoreBinding& binding);

}  // namespace warpfold::pipeline
