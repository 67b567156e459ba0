#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "cuda/engines/backend.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// What a rank is to compute with.
struct BackendPlacement {
  std::optional<cuda::DeviceOptions> gpu;  ///< none: the cpu backend
  int threads = 1;                         ///< as asked for, or this rank's share of the cores
  std::string fallback;                    ///< why an automatic choice took the cpu, or empty
  std::string binding_note;                ///< how the cores it is bound to slow it, or empty
  std::vector<int> near_gpu;  ///< hardware threads on its NUMA node; none where there is one
};

/// This rank's place: its GPU (GpuPlacement), and its share of the host's cores. Collective. Throws
/// on every rank where a GPU is asked for and missing, and where several ranks would meet on one
/// GPU without `share_gpu`.
BackendPlacement choose_place(const RunOptions& options, const mpi::Communicator& communicator);

/// A GPU's takes a quarter of a second. Throws Error.
std::unique_ptr<Backend> make_backend(const BackendPlacement& place);

/// A backend that is made in a thread of its own.
class StartingBackend {
 public:
  explicit StartingBackend(std::function<std::unique_ptr<Backend>()> make);

  /// Waits for it. Throws what making it threw.
  Backend& get();

 private:
  std::future<std::unique_ptr<Backend>> starting_;
  std::unique_ptr<Backend> backend_;
};

struct ChosenBackend {
  std::unique_ptr<Backend> backend;
  BackendPlacement place;
};

/// The backend of this rank's place. Collective; throws the same Error on every rank.
ChosenBackend choose_backend(const RunOptions& options, const mpi::Communicator& communicator);

/// Names, hosts and devices of a run; `seconds` and `stages` are left for the caller. Collective.
RunReport describe_run(const Backend& backend, const BackendPlacement& place,
                       const mpi::Communicator& communicator);
RunReport describe_run(const ChosenBackend& chosen, const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
