#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/benchmarks.hpp"
#include "bench/harness/timing_loop.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::bench {

/// State shared by all ways from and to a file.
struct IngestRun {
  const Settings& settings;
  const mpi::Communicator& communicator;
  const io::DatasetInfo& info;
  std::uint64_t piece_bytes;  ///< that one call reads
  int threads;                ///< threads of this rank
  bool on_gpu;                ///< this rank's backend
};

/// "1 thread", "8 threads".
inline std::string threads_text(int threads) {
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

/// Names of kernels that reduce what a view makes of a dataset, beside "warpfold", which takes
/// elements as they are stored.
inline const std::vector<std::string> view_kernels = {"attributes", "where", "mask", "weights"};

/// Makes candidates of reductions of the dataset, through the library and by warpfold's own ways,
/// with views of it, and the ceilings that the dataset's storage has. `kernels` are those wanted.
/// Collective. Throws Error.
std::vector<Candidate> reduce_candidates(const IngestRun& run,
                                         const std::vector<std::string>& kernels);

/// The files that scans and copies write: neither exists before and after. Calls are collective.
class ScanOutputs {
 public:
  /// Throws a usage Error where one of them exists.
  explicit ScanOutputs(const IngestRun& run);
  ~ScanOutputs();
  ScanOutputs(const ScanOutputs&) = delete;
  ScanOutputs& operator=(const ScanOutputs&) = delete;

  const std::string& scanned() const { return scanned_; }
  const std::string& copied() const { return copied_; }

  /// Removes both. Throws Error.
  void remove() const;

  /// Makes an empty file for a copy. Throws Error.
  void create_copy() const;

 private:
  const mpi::Communicator& communicator_;
  std::string scanned_;
  std::string copied_;
};

/// Makes candidates of the dataset's prefix sums to a file, and of a copy of the input's bytes to
/// another. Collective. Throws Error.
std::vector<Candidate> scan_candidates(const IngestRun& run, const ScanOutputs& outputs,
                                       const std::vector<std::string>& kernels);

}  // namespace warpfold::bench
