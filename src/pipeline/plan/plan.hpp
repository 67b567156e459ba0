#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "warpfold/axis.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

enum class PlannedCommand { reduce, histogram, scan, compact };

/// A command whose plan is requested, with default options but for its axes.
struct PlanRequest {
  PlannedCommand command = PlannedCommand::reduce;
  std::vector<Axis> axes;  ///< any number for a reduction, at most one for a scan
};

/// A rank's share of a plan's items.
struct PlanShare {
  std::uint64_t items = 0;
  std::uint64_t elements = 0;
};

/// The WorkPlan of a command, over all ranks.
struct PlanReport {
  RunReport run;                    ///< without times
  std::vector<int> axes;            ///< requested axes, rising
  int threads = 1;                  ///< maximum over the ranks
  std::optional<int> slots;         ///< slabs under way at once; none for blocks
  std::string unit = "slab";        ///< a slab, a block, or a box, of which items along axes have
                                    ///< some
  std::uint64_t unit_elements = 0;  ///< the most
  std::uint64_t items = 0;
  std::vector<PlanShare> shares;        ///< one per rank; on rank 0
  std::uint64_t host_memory_bytes = 0;  ///< for slots
  std::string bottleneck;               ///< expected bottleneck of a reduction of slabs, and what
                                        ///< would help; or empty
};

/// Plans a command for a dataset whose decoded elements are of `value_type`, as the command itself
/// does; a GPU's memory may hold smaller slabs and blocks. Collective; `info` and `value_type`
/// count on rank 0 alone. Throws the same Error on every rank, a usage Error for axes that can't
/// be.
PlanReport plan_command(MPI_Comm communicator, const io::DatasetInfo& info, ElementType value_type,
                        const PlanRequest& request, const RunOptions& options);

}  // namespace warpfold::pipeline
