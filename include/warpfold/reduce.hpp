#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/applied_attributes.hpp"
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

/// Form of `argmin` and `argmax` in outputs: flat indices along the axes, or coordinates, an output
/// for each reduced dimension.
enum class Places : std::uint8_t { indices, coordinates };

/// Options of reductions of datasets.
struct ReduceOptions {
  /// The statistics; the summary has them in this order.
  std::vector<Statistic> statistics = {Statistic::count, Statistic::sum,  Statistic::min,
                                       Statistic::max,   Statistic::mean, Statistic::std};
  /// Quantiles, each 0 (the least) to 1 (the greatest): at most 1024, along axes different ones.
  /// `summary` says what NaN does.
  std::vector<double> quantiles;
  QuantileMethod quantile_method = QuantileMethod::linear;  ///< between two elements
  /// The bytes that each rank may keep elements in to find quantiles along axes: as many outputs'
  /// at a time. Of no influence on results.
  std::uint64_t quantile_memory_bytes = std::uint64_t{1} << 30;
  SummaryOptions summary;  ///< along axes, sums wrap in the type of the output
  ViewOptions view;        ///< which elements count, and their values
  /// The dimensions to reduce along, as NumPy's `axis` argument; by numbers or names.
  /// Empty: over all elements; `every` and `keep_dimensions` then have no effect.
  std::vector<Axis> axes;
  /// Reduce so many consecutive indices along the first of `axes` at a time, the last time what is
  /// left: the output has that dimension, with an index for each. 0: all of them. Or those that
  /// follow in one window of the calendar, by the times of the coordinate along that axis: "year",
  /// "season" (from December, March, June and September), "month", "day", or "6 hours" and the like
  /// from midnight.
  Every every = 0;
  /// Leave out the first and the last of these windows where the times don't cover them: where
  /// further ones, as far apart as the first two or the last two times, would lie in them.
  bool complete = false;
  /// Outputs along axes that fewer elements count in are missing: they are as `empty` says, or by
  /// default NaN, or netCDF's default fill value of integers. Counts are what they are.
  std::uint64_t min_count = 0;
  /// Form of argmin and argmax along axes, and by labels with an output. Coordinates have the type,
  /// units and calendar of their dimension's, and are missing where no element is valid: NaN, or
  /// netCDF's default fill value of integers.
  Places places = Places::indices;
  bool keep_dimensions = false;  ///< leave the axes in the output, with extent 1
  /// The value of extrema and sums along axes that have no valid element; it becomes the
  /// `_FillValue` of these outputs. "auto": sums are 0; extrema are the input's `_FillValue`, or
  /// NaN, or netCDF's default fill value of integers.
  std::string empty = "auto";
  /// The type of sums, means and the like of floats; their own where not given.
  std::optional<ElementType> output_type;
  /// Reduce the elements of each label apart: a dataset of integers or texts, named as
  /// ViewOptions::mask is, without a condition, of the same dimensions as one. Elements that
  /// its `_FillValue` and the like stand for have no label. Results are datasets where `output` has
  /// a path, otherwise ReduceResult::labels; with quantiles, weights or times the dataset has one
  /// dimension. With `axes`, the dataset has a label for each index along the first of these, and
  /// outputs have a dimension of the labels in its place; or it has integers of several of the
  /// axes, and outputs all indices along others and labels (then without quantiles, weights, times
  /// and `keep_dimensions`); or `by` is a calendar component of the time coordinate, by CF's units
  /// and calendars: "year", "season", "month", "day" (of the month), "dayofyear" or "hour", or
  /// several of them, "year,month", whose labels are texts such as "2001-03".
  std::string by;
  /// Weights of elements, finite and not negative; those of weight 0 don't count. "DATASET" or
  /// "FILE::DATASET" of the same dimensions as ViewOptions::mask, and named as it is (one dimension
  /// goes by its name first); or "cos:DIMENSION", the cosine of its coordinate in degrees. A fill
  /// value in it weighs nothing. Statistics: count, sum_of_weights, sum (of products), mean, var
  /// and std. Empty: none.
  std::string weights;
  /// A dataset whose elements multiply those in view, named as `weights`: statistics are
  /// count, sum and mean of the products, nan_count and inf_count. Not along with `weights`.
  std::string times;
  /// File of outputs, whose dataset is the prefix of their names if there are several. Without
  /// a path the result has the numbers of outputs along axes, max_reported_numbers at most.
  OutputOptions output;
  StorageOptions storage;  ///< storage of each output; of no effect on numbers
  RunOptions run;          ///< no influence on results
};

/// An axis output is a dataset that holds a statistic, or a quantile, along axes.
struct AxisOutput {
  Statistic statistic = Statistic::sum;  ///< for a quantile, the one whose types and fill value it
                                         ///< has: min if its method gives elements, or mean
  std::string dataset;                   ///< path in the output file
  ElementType type = ElementType::f64;   ///< type of its elements
  std::optional<double> quantile = std::nullopt;  ///< 0 to 1; none for a statistic
  std::string dimension = {};  ///< dimension of a place that is a coordinate; otherwise empty
  /// Elements of the dataset if there is no file, otherwise without values.
  ReportedNumbers numbers = {};
};

/// Maximum number of results along axes that are reported without an output, of each dataset.
inline constexpr std::uint64_t max_reported_numbers = 100;

/// The statistics of the elements that have a label.
struct LabelSummary {
  Value label;       ///< an integer; of texts their number
  std::string text;  ///< text of a label that is one
  Summary summary;   ///< results of its elements, in the order of ReduceOptions::statistics
  std::vector<Value> quantiles;  ///< quantiles of its elements, as ReduceResult::quantiles
};

/// Maximum number of labels that are reported without an output.
inline constexpr std::uint64_t max_reported_labels = std::uint64_t{1} << 20;
/// The name of max_reported_labels in version 1.0.
[[deprecated("max_reported_labels")]] inline constexpr std::uint64_t max_told_labels =
    max_reported_labels;

/// Counts the selected elements that a reduction skips.
struct LeftOutElements {
  std::uint64_t by_view = 0;  ///< excluded by attributes, conditions or masks
  std::uint64_t nan = 0;      ///< NaN skipped by SummaryOptions::nan
};

/// A reduction's result is filled on rank 0 alone.
struct ReduceResult {
  Summary summary;  ///< summary of all elements in view; none along axes or by labels
  std::vector<LabelSummary> labels;  ///< rising; also those of which no element is in view
  /// The quantiles requested: nothing of no elements; elements, if they are some, and otherwise
  /// doubles interpolated between two, both as numpy.quantile() has them of an array of doubles.
  std::vector<Value> quantiles;
  ElementFormat format;                       ///< as stored
  ElementType value_type = ElementType::f64;  ///< the stored one, unless unpacking gives another
  AppliedAttributes applied;                  ///< attributes that unpacked the stored numbers
  std::vector<std::uint64_t> shape;           ///< as selected
  std::vector<int> axes;                      ///< axes of the shape, rising; none over all elements
  std::vector<std::string> axis_names;        ///< names of the axes, if each has one
  std::vector<std::uint64_t> output_shape;    ///< along axes, or by labels
  std::vector<AxisOutput> outputs;            ///< as above: of each statistic, then each quantile
  std::vector<ReportedCoordinate> coordinates;  ///< one a dimension of outputs without a file
  std::optional<LeftOutElements> left_out;      ///< none along axes, by labels or with factors
  RunReport report;                             ///< the run: backend, threads, times
};

/// Reduces dataset `dataset` of HDF5 file `file`, to numbers or, along axes, into datasets of a new
/// file: statistics in one pass; quantiles in one to three more, or in four where elements are few
/// or quantiles many; along axes in one pass over the elements of each part of outputs that fits
/// `quantile_memory_bytes`. Collective over `communicator`; MPI must be initialised, unless it is
/// MPI_COMM_SELF. The results are the same bits for any number of ranks, any backend, slab size and
/// storage layout. Throws the same Error on every rank: a usage Error for options that make no
/// sense, any other where a file can't be read or written, or a type can't hold a result.
ReduceResult reduce(MPI_Comm communicator, const std::string& file, const std::string& dataset,
                    const ReduceOptions& options = {});

/// Reduces several datasets of a file, which is opened once, along axes into one new file, as
/// scan() does it. Skips those that were chosen by a pattern, or because all were, and can't be
/// read or don't fit the options. Throws the same Error on every rank.
std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm communicator, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options = {});

}  // namespace warpfold
