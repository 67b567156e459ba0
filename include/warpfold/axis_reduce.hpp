#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

struct AxisReduceOptions {
  std::vector<std::int64_t> axes;  ///< negative ones count from the last
  bool keep_dimensions = false;    ///< leave the axes in the output, with extent 1
  std::vector<Statistic> statistics = {Statistic::sum};
  SummaryOptions summary;  ///< where sums wrap, they wrap in the type of the output
  /// Of sums, means and the like of floats; their own type where not given.
  std::optional<ElementType> output_type;
  ViewOptions view;
  std::string output;          ///< the file to make
  std::string output_dataset;  ///< the input's name where empty; of several statistics, a group
  bool force = false;
  std::string history;
  RunOptions run;
};

struct AxisOutput {
  Statistic statistic = Statistic::sum;
  std::string dataset;
  ElementType type = ElementType::f64;
};

/// Filled on rank 0 alone.
struct AxisReduceResult {
  ElementFormat input;
  ElementType value_type = ElementType::f64;  ///< of elements, once unpacked
  std::vector<std::uint64_t> shape;           ///< as selected
  std::vector<int> axes;                      ///< of it, rising
  std::vector<std::uint64_t> output_shape;
  std::vector<AxisOutput> outputs;
  RunReport report;
};

/// Reduces a dataset along axes, as NumPy's `axis` argument, into datasets of a new file.
/// Collective over `communicator`; MPI must be initialised. The output is the same bits for any
/// number of ranks, any backend, slab size and storage layout. Throws the same Error on every rank.
AxisReduceResult reduce_axes(MPI_Comm communicator, const std::string& file,
                             const std::string& dataset, const AxisReduceOptions& options);

}  // namespace warpfold
