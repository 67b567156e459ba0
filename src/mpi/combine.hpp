#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/results/accumulator.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// Merges all ranks' contents on the root (elsewhere unspecified); collective. `mine` must be
/// normalized; the result is. Exact for up to 2^30 ranks: a digit of each is below 2^32.
Accumulator reduce(const Accumulator& mine, const Communicator& communicator);

/// Sums the ranks' counts, one by one, on the root (elsewhere unspecified); collective. At
/// most 2^31 - 1 of them, as many on every rank.
std::vector<std::uint64_t> sum(std::vector<std::uint64_t> counts, const Communicator& communicator);

/// Does what reduce() does on every rank; returns nothing where any rank comes without contents.
std::optional<Accumulator> reduce_everywhere(const std::optional<Accumulator>& mine,
                                             const Communicator& communicator);

/// Returns on each rank the sum of all lower ranks' values; collective.
std::uint64_t exclusive_sum(std::uint64_t value, const Communicator& communicator);

/// Merges on each rank the contents of all lower ranks, none on the root; collective.
Accumulator exclusive_scan(const Accumulator& mine, const Communicator& communicator, ScanWay way);

/// Does so in the communicator's own way.
inline Accumulator exclusive_scan(const Accumulator& mine, const Communicator& communicator) {
  return exclusive_scan(mine, communicator, communicator.scan_way());
}

/// A contribution is what a rank brings to a reduction or a scan, in one message.
struct Contribution {
  Accumulator contents;
  std::int64_t missing;  ///< ranks without contents
};

/// A merge of contributions has the MPI type of one and the operation that merges two.
class ContributionMerge {
 public:
  ContributionMerge();
  ~ContributionMerge();
  ContributionMerge(const ContributionMerge&) = delete;
  ContributionMerge& operator=(const ContributionMerge&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op operation() const { return operation_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

/// Returns the process's own, made at its first use: an attribute of MPI_COMM_SELF, which
/// MPI_Finalize deletes before anything else (MPI 3.1, 8.7.1).
const ContributionMerge& contribution_merge();

}  // namespace warpfold::mpi
