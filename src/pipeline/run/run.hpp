#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/engine/stage_timer.hpp"
#include "cuda/engines/backend.hpp"
#include "io/dataset/dataset.hpp"
#include "io/files/external_files.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/host_items.hpp"
#include "pipeline/run/made_once.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Hardware that a rank is to compute with.
struct BackendPlacement {
  std::optional<cuda::DeviceOptions> gpu;  ///< none: the cpu backend
  int threads = 1;                         ///< as requested, or this rank's share of the cores
  std::string fallback;                    ///< why an automatic choice took the cpu, or empty
  std::string binding_note;                ///< how the cores it is bound to slow it, or empty
  std::vector<int> near_gpu;  ///< hardware threads on its NUMA node; none where there is one
};

/// Chooses this rank's place: its GPU (GpuPlacement), and its share of the host's cores.
/// Collective. Throws on every rank where a GPU is requested and missing, and where several ranks
/// would meet on one GPU without `share_gpu`. `starting` times the driver's start; null: nothing
/// does.
BackendPlacement choose_place(const RunOptions& options, const mpi::Communicator& communicator,
                              StageTimer* starting = nullptr);

/// Makes a place's backend; a GPU's takes a quarter of a second. Throws Error.
std::unique_ptr<Backend> make_backend(const BackendPlacement& place);

struct ChosenBackend {
  std::unique_ptr<Backend> backend;
  BackendPlacement place;
};

/// Makes the backend of this rank's place. Collective; throws the same Error on every rank.
ChosenBackend choose_backend(const RunOptions& options, const mpi::Communicator& communicator);

/// Tells names, hosts and devices of a run; `seconds` and `stages` are left for the caller.
/// Collective.
RunReport describe_run(const ChosenBackend& chosen, const mpi::Communicator& communicator);

/// Throws a usage Error unless slab_bytes is 0 (to be chosen) or 4 KiB to 1 GiB.
void check_slab_bytes(std::uint64_t slab_bytes);

/// State shared by the datasets of one run: observers, ranks, and this rank's backend, which starts
/// in a thread of its own.
struct Run {
  /// Collective over `parent`. Throws the same Error on every rank, a usage Error for options that
  /// can't be.
  Run(MPI_Comm parent, const RunOptions& run_options, std::uint64_t quantiles_along_axes = 0);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Goes over from cores, which a run begins with where the choice is left to the program, to GPUs
  /// for a dataset that some rank's cores aren't expected to be done with sooner. Collective;
  /// throws the same Error on every rank.
  void choose_backend_for(const io::DatasetInfo& info);

  /// Returns whether cores take a part of the dataset's slabs beside the GPU.
  bool shares(const io::DatasetInfo& info) const;

  /// Returns the backend of cores: this rank's, or one beside its GPU for what that doesn't offer.
  Backend& cores();

  /// Returns what make() makes of this rank's backend: an engine, whose memory is a part of a GPU's
  /// start. One thread at a time.
  template <class Make>
  auto make_engine(Make&& make) {
    Backend& mine = *backend;
    return place.gpu ? starting_gpu.time(0, [&] { return make(mine); }) : make(mine);
  }

  /// Begins a pass over `items` items, of which each rank has its share_of(), by `threads` threads
  /// of this rank. Returns the items that ranks of a host share; null where that gains nothing.
  /// Collective.
  HostItems* share_items(std::uint64_t items, int threads);

  /// Adds a sentence to the next report's notes, once, unless it is empty. Only rank 0's notes are
  /// reported.
  void note(const std::string& text);

  const RunOptions& options;
  const io::ExternalFilesRule external_files;
  ProgressMonitor monitor;
  StageTimer opening;    ///< datasets
  StageTimer reserving;  ///< the space of outputs
  StageTimer starting_gpu;
  mpi::Communicator communicator;
  BackendPlacement place;
  MadeOnce<Backend> backend;
  const std::uint64_t line_quantiles;         ///< to be found along axes: the choice goes by them
  std::unique_ptr<Backend> cores_beside_gpu;  ///< once there was work for them
  std::array<double, 3> reported_seconds{};   ///< seconds of the start in earlier reports

 private:
  void start_at(BackendPlacement chosen);

  friend RunReport report_of(Run& run, const std::vector<StageTiming>& stages,
                             std::chrono::steady_clock::time_point start);

  bool is_chosen_ = false;  ///< once and for all
  std::unique_ptr<HostItems> host_items_;
  std::vector<std::string> notes_;
};

/// Tells names, hosts and devices of a run; `seconds` and `stages` are left for the caller. Waits
/// for the backend. Collective; throws the same Error on every rank.
RunReport describe_run(const Run& run);

/// Reports what ran since `start`; of the run's start and of `stages`, those of the busiest rank.
/// Collective.
RunReport report_of(Run& run, const std::vector<StageTiming>& stages,
                    std::chrono::steady_clock::time_point start);

}  // namespace warpfold::pipeline
