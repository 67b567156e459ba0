#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/results/accumulator.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// All ranks' contents merged, on the root (elsewhere unspecified); collective. `mine` must be
/// normalized; the result is. Exact for up to 2^30 ranks: a digit of each is below 2^32.
Accumulator reduce(const Accumulator& mine, const Communicator& communicator);

/// The sum of the ranks' counts, one by one, on the root (elsewhere unspecified); collective. At
/// most 2^31 - 1 of them, as many on every rank.
std::vector<std::uint64_t> sum(std::vector<std::uint64_t> counts, const Communicator& communicator);

/// As reduce(), on every rank; nothing where any rank comes without contents.
std::optional<Accumulator> reduce_everywhere(const std::optional<Accumulator>& mine,
                                             const Communicator& communicator);

/// The contents of all lower ranks merged, on each rank: empty on the root; collective.
Accumulator exclusive_scan(const Accumulator& mine, const Communicator& communicator);

}  // namespace warpfold::mpi
