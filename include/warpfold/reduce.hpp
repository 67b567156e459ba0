#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/axis.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/quantile.hpp"
#include "warpfold/core/reported_numbers.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/storage_options.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/every.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold {

/// Form of `argmin` and `argmax` in outputs: flat indices along the axes, or coordinates, with an
/// output for each reduced dimension.
enum class Places : std::uint8_t { indices, coordinates };

/// Options of reductions of datasets.
struct ReduceOptions {
  /// The statistics; the summary has them in this order.
  std::vector<Statistic> statistics = {Statistic::count, Statistic::sum,  Statistic::min,
                                       Statistic::max,   Statistic::mean, Statistic::std};
  /// Quantiles, from 0 (the minimum) to 1 (the maximum): at most 1024, without duplicates along
  /// axes. `summary` specifies the effect of NaN.
  std::vector<double> quantiles;
  QuantileMethod quantile_method = QuantileMethod::linear;  ///< between two elements
  /// Bytes of memory of each rank for the elements of quantiles along axes: those of as many
  /// outputs as fit are gathered at a time. Does not change results.
  std::uint64_t quantile_memory_bytes = std::uint64_t{1} << 30;
  SummaryOptions summary;  ///< along axes, sums wrap in the type of the output
  ViewOptions view;        ///< which elements count, and their values
  /// Dimensions to reduce along, by numbers as NumPy's `axis` or by names. Empty: reduce all
  /// elements; `every` and `keep_dimensions` then have no effect.
  std::vector<Axis> axes;
  /// Reduce groups of so many consecutive indices along the first of `axes`; the last group may
  /// have fewer. The output keeps that dimension, with an index for each group. 0: one group. Or a
  /// window of the calendar, by the times of the coordinate along that axis: "year", "season" (from
  /// December, March, June and September), "month", "day", or "6 hours" and the like from midnight.
  /// "10 years", "3 months" and "5 days" begin with the year, month or day of the first time.
  Every every = 0;
  /// Omit a first or last window that the times don't cover: a further time would lie in it, at the
  /// distance of the first or last two times.
  bool complete = false;
  /// Minimum number of valid elements of an output along axes. Outputs of fewer are missing values:
  /// those of `empty`, or NaN, or netCDF's default fill value of integers. Counts stay.
  std::uint64_t min_count = 0;
  /// Form of argmin and argmax along axes, and by labels with an output. Coordinates have the type,
  /// units and calendar of the dimension's coordinate. Where no element is valid, they are missing:
  /// NaN, or netCDF's default fill value of integers.
  Places places = Places::indices;
  bool keep_dimensions = false;  ///< keep reduced dimensions with extent 1
  /// Value of extrema and sums along axes without valid elements, and the `_FillValue` of these
  /// outputs. "auto": 0 for sums; for extrema the input's `_FillValue`, or NaN, or netCDF's default
  /// fill value of integers.
  std::string empty = "auto";
  /// Type of sums, means and the like of floats; by default the elements' type.
  std::optional<ElementType> output_type;
  /// Reduce elements by label. The labels are a dataset of integers or texts, which is named and
  /// matched as ViewOptions::mask, without a condition. Elements whose label is missing
  /// (`_FillValue` and the like) are skipped. If `output` has a path, results are datasets,
  /// otherwise ReduceResult::labels. Quantiles, weights and times need labels of one dimension.
  ///
  /// With `axes` there are three forms. A dataset with a label for each index along the first axis:
  /// outputs have a dimension of the labels in its place. A dataset of integers over several axes:
  /// outputs have that dimension, too, but quantiles, weights, times and `keep_dimensions` are not
  /// supported. A calendar component of the time coordinate, by CF's units and calendars: "year",
  /// "season", "month", "day" (of the month), "dayofyear" or "hour", or several of these,
  /// "year,month", whose labels are texts such as "2001-03".
  std::string by;
  /// Weights of elements, finite and not negative. Elements of weight 0, or whose weight is a fill
  /// value, don't count. "DATASET" or "FILE::DATASET", which is named and matched as
  /// ViewOptions::mask (a single dimension by its name first); or "cos:DIMENSION", the cosine of
  /// its coordinate in degrees or radians. Statistics: count, sum_of_weights, sum (of products),
  /// mean, var and std. Empty: none.
  std::string weights;
  /// Dataset whose elements multiply those in view, named as `weights`. Statistics: count, sum and
  /// mean of the products, nan_count and inf_count. Not together with `weights`.
  std::string times;
  /// File of the outputs. `dataset` is the prefix of their names if there are several. Without a
  /// path the result has the numbers of outputs along axes, at most max_reported_numbers.
  OutputOptions output;
  StorageOptions storage;  ///< storage of each output
  RunOptions run;          ///< does not change results
};

/// A statistic or quantile along axes: a dataset, or reported numbers.
struct AxisOutput {
  /// The statistic. For a quantile: the one with the same type and fill value, which is min if its
  /// method gives elements, otherwise mean.
  Statistic statistic = Statistic::sum;
  std::string dataset;                            ///< path in the output file
  ElementType type = ElementType::f64;            ///< type of its elements
  std::optional<double> quantile = std::nullopt;  ///< 0 to 1; none for a statistic
  std::string dimension = {};  ///< dimension of a place that is a coordinate; otherwise empty
  /// Numbers of an output without a file; with a file it has no values.
  ReportedNumbers numbers = {};
};

/// Maximum number of results along axes that are reported of a dataset without an output.
inline constexpr std::uint64_t max_reported_numbers = 100;

/// Statistics of the elements with one label.
struct LabelSummary {
  Value label;                   ///< an integer; for texts their number
  std::string text;              ///< text of the label, if labels are texts
  Summary summary;               ///< in the order of ReduceOptions::statistics
  std::vector<Value> quantiles;  ///< in the order of ReduceOptions::quantiles
};

/// Maximum number of labels that are reported without an output.
inline constexpr std::uint64_t max_reported_labels = std::uint64_t{1} << 20;
/// Name of max_reported_labels in version 1.0.
[[deprecated("max_reported_labels")]] inline constexpr std::uint64_t max_told_labels =
    max_reported_labels;

/// Numbers of selected elements that a reduction skipped.
struct LeftOutElements {
  std::uint64_t by_view = 0;  ///< excluded by attributes, conditions or masks
  std::uint64_t nan = 0;      ///< NaN, skipped by SummaryOptions::nan
};

/// Result of a reduction, on rank 0 alone.
struct ReduceResult : DatasetResult {
  Summary summary;  ///< summary of all elements in view; none along axes or by labels
  std::vector<LabelSummary> labels;  ///< rising; including labels without elements in view
  /// The requested quantiles, as numpy.quantile() of an array of doubles: elements, or doubles
  /// interpolated between two. Without elements they are empty values.
  std::vector<Value> quantiles;
  std::vector<int> axes;                    ///< reduced dimensions, rising; none for all elements
  std::vector<std::string> axis_names;      ///< names of the axes, if each has one
  std::vector<std::uint64_t> output_shape;  ///< along axes, or by labels
  std::vector<AxisOutput> outputs;          ///< outputs of statistics, then of quantiles
  std::vector<ReportedCoordinate> coordinates;  ///< coordinates of outputs without a file
  std::optional<LeftOutElements> left_out;      ///< none along axes, by labels or with factors
};

/// Reduces dataset `dataset` of HDF5 file `file` to numbers or, along axes, into datasets of a new
/// file. Statistics take one pass. Quantiles take one to three more, or four if elements are few or
/// quantiles many; along axes they take one pass over the elements of each group of outputs that
/// fits `quantile_memory_bytes`. Collective over `communicator`; MPI must be initialised, unless it
/// is MPI_COMM_SELF. The results have the same bits for any number of ranks, backend, slab size and
/// storage layout. Throws the same Error on every rank: a usage Error for invalid options, another
/// if a file can't be read or written, or a type can't hold a result.
ReduceResult reduce(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                    const ReduceOptions& options = {});

/// Reduces several datasets of a file, which is opened once; along axes into one new file, with the
/// rules of scan(). Skips datasets that can't be read or don't fit the options, unless they were
/// named. Throws the same Error on every rank.
std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm communicator, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options = {});

}  // namespace warpfold
