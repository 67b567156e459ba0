#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "core/values/cf_time.hpp"
#include "io/dataset/dataset.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/dataset/dimensions.hpp"

namespace warpfold::pipeline {

/// The coordinates along a dimension, or several: numbers, unpacked, or texts.
struct CoordinateLine {
  std::string file;
  std::string name;
  std::vector<double> numbers;
  std::vector<std::string> texts;  ///< in place of numbers
  bool is_single = false;          ///< stored as f32, or narrower
  std::string units;
  std::string calendar;
  std::optional<TimeUnits> time;  ///< units of a time coordinate
};

/// Returns what a dataset's attributes say of its times; none where they are of no times.
std::optional<TimeUnits> time_units(const io::DatasetText& text);

/// Reads the coordinates of dimensions, at `path` of a file; none where there is no such dataset of
/// that shape, of numbers, or of texts and one dimension. For one rank.
std::optional<CoordinateLine> read_coordinate_line(const std::string& file, const std::string& path,
                                                   const std::vector<std::uint64_t>& shape);

/// Returns the number of a line, at an index of it, in the units of another; none where there is no
/// such number.
std::optional<double> number_in_units_of(const CoordinateLine& other, const CoordinateLine& line,
                                         std::size_t index);

/// Datasets of more are not compared element by element.
inline constexpr std::uint64_t most_compared_elements = 1 << 22;

/// Returns the one of several files whose dataset of a name is not that of the first; empty where
/// all that have it have the same, or it is large. For one rank. Throws Error.
std::string file_that_differs(const std::vector<std::string>& files, const io::DatasetInfo& first);

/// Requires that there is no file_that_differs(). For one rank. Throws Error.
void require_same_in(const std::vector<std::string>& files, const io::DatasetInfo& first);

/// A coordinate that the attribute `coordinates` names, as latitudes of a curvilinear grid are.
struct AuxiliaryCoordinate {
  std::string name;
  std::string path;
  std::vector<std::size_t> dimensions;  ///< the dataset's own dimensions
  std::optional<std::optional<CoordinateLine>> line = {};
};

/// Meaning of a dataset's dimensions: their names, and their coordinates, read on request. For one
/// rank.
class Grid {
 public:
  /// Reads the names. Throws Error.
  explicit Grid(const io::DatasetInfo& info);

  const io::DatasetInfo& info() const { return info_; }
  const std::vector<io::DimensionName>& names(std::size_t dimension) const {
    return names_[dimension];
  }
  std::string shown_name(std::size_t dimension) const;
  bool has_coordinate(std::size_t dimension) const {
    return !names_[dimension].empty() && !names_[dimension].front().coordinate.empty();
  }

  /// Returns whether any dimension is called as one of `names`.
  bool has_dimension_called(const std::vector<io::DimensionName>& names) const;

  /// Returns a dimension's coordinates, those of all files along which the dataset was
  /// concatenated; null where it has none. Throws Error.
  const CoordinateLine* line(std::size_t dimension);

  /// Lists auxiliary coordinates of dimensions that the dataset has.
  std::vector<AuxiliaryCoordinate>& auxiliaries();

  /// Returns the numbers of one of them; null where it has none.
  const CoordinateLine* line(AuxiliaryCoordinate& coordinate) const;

  /// Returns where a line is: its file and path.
  std::string place(std::size_t dimension) const;

 private:
  std::optional<CoordinateLine> read(std::size_t dimension) const;
  /// Returns which of the dimensions another dataset has; none where it has others, or isn't there.
  std::optional<std::vector<std::size_t>> dimensions_of(const std::string& path) const;

  io::DatasetInfo info_;
  std::vector<std::vector<io::DimensionName>> names_;
  std::vector<std::optional<std::optional<CoordinateLine>>> lines_;
  std::optional<std::vector<AuxiliaryCoordinate>> auxiliaries_;
};

/// A dimension of one dataset, and the one of another that has the same indices.
struct SharedDimension {
  std::size_t one;
  std::size_t other;
  Slice indices;  ///< that are compared
};

/// Compares what two datasets say of dimensions that they share: names, and the coordinates of
/// indices by value, times whatever their units; auxiliary ones of at most 2^22 elements, too.
/// Throws an Error that begins with `problem` where they differ. Returns what can't be compared, a
/// sentence for a note, or nothing.
std::string require_match(Grid& one, Grid& other, const std::vector<SharedDimension>& shared,
                          const std::string& problem);

}  // namespace warpfold::pipeline
