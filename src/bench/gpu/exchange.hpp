#pragma once

#include <functional>
#include <vector>

#include "bench/benchmarks.hpp"
#include "core/results/accumulator.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::bench {

enum class Combination : std::uint8_t { none, reduce, exscan, doubling };

/// A way from a rank's own result to the combined one.
struct Exchange {
  Row row;
  Combination combination = Combination::none;
  Accumulator right;  ///< expected result of `take`, normalized
  /// Brings this rank's result to the host; must not communicate.
  std::function<Accumulator()> take;
};

/// Lists exchanges that begin on this rank's GPU, which is current: the handover of a result to the
/// host, through memory that both see and through a copy, and reductions of arrays of f64, of
/// `settings.sizes` bytes as far as the GPU's memory holds them, up to the combined result.
/// Collective. Throws Error.
std::vector<Exchange> gpu_exchanges(const Settings& settings,
                                    const mpi::Communicator& communicator);

}  // namespace warpfold::bench
