#pragma once

#include <vector>

#include "bench/harness/result.hpp"
#include "core/results/accumulator.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::bench {

/// Makes one row of each rank's: the slowest one's times, the sum of the rates, the worst check and
/// error; not run where any rank could not. Every rank brings the same rows and gets the result.
/// Collective.
void combine_over_ranks(std::vector<Row>& rows, const mpi::Communicator& communicator);

/// Returns `right` where it is so on every rank. Collective.
Check check_of_ranks(bool right, const mpi::Communicator& communicator);

/// Returns what the first `ranks` ranks bring as `mine`, merged one after the other; each rank may
/// ask for another number. Collective.
Accumulator merged_ranks(const Accumulator& mine, int ranks, const mpi::Communicator& communicator);

}  // namespace warpfold::bench
