#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/meaning/matching.hpp"
#include "warpfold/view_options.hpp"

/// Datasets beside another, which have some of its dimensions in their order: masks, factors,
/// labels.
namespace warpfold::pipeline {

/// The part of a dataset that belongs to what is selected of another.
struct SharedPart {
  Selection selection;                      ///< the part of the dataset beside the other
  std::vector<SharedDimension> dimensions;  ///< stored ones; `one` is the other's, they rise
};

/// Finds the dimensions of a dataset that one beside it has: those that are named with it; those of
/// the same names; the last ones, if they have its extents; or those which alone do. Leading
/// extents of 1 are ignored. `prefers_name`: one dimension goes by its name, whatever the last
/// ones' extents are. For one rank; throws a usage Error where it doesn't fit.
SharedPart shared_part(const NamedDataset& named, const io::DatasetInfo& beside,
                       const io::DatasetInfo& dataset, Matching matching,
                       bool prefers_name = false);

/// Compares what a dataset and one beside it say of dimensions that they share. Throws an Error
/// where they differ; returns what can't be compared, a sentence for a note, or nothing. For one
/// rank.
std::string match_beside(const NamedDataset& named, const io::DatasetInfo& beside,
                         const io::DatasetInfo& dataset, Matching matching,
                         const std::vector<SharedDimension>& dimensions);

/// A dataset beside another, of which what belongs to that is selected.
struct SharedDataset {
  io::Dataset dataset;
  std::vector<std::size_t> dimensions;  ///< dimensions of the other's shape that it has
};

/// Selects the shared_part() of a dataset beside another, and adds a note of match_beside(). Throws
/// as they do.
SharedDataset shared_dataset(const NamedDataset& named, io::Dataset beside,
                             const io::DatasetInfo& dataset, Matching matching,
                             bool prefers_name = false);

/// Returns the dimensions of dataset.shape that a dataset beside it has.
std::vector<std::size_t> shared_with_view(const SharedPart& part, const io::DatasetInfo& dataset);

/// Returns the root's dimensions on every rank. Collective.
std::vector<std::size_t> dimensions_of_root(std::span<const std::size_t> dimensions,
                                            const mpi::Communicator& communicator);

/// Consecutive dimensions of a shape, from `first` to the one before `end`.
struct DimensionRange {
  std::size_t first = 0;
  std::size_t end = 0;

  /// Returns the elements of the shape that have one index along these dimensions and those before
  /// them; at least 1.
  std::uint64_t stride(std::span<const std::uint64_t> shape) const;

  /// Returns the elements of an array that has these dimensions alone.
  std::uint64_t elements(std::span<const std::uint64_t> shape) const;
};

/// Returns the least range that has some dimensions, which rise.
DimensionRange range_of(std::span<const std::size_t> dimensions,
                        std::span<const std::uint64_t> shape);

/// Calls body(place, index) for each element of an array of a range's dimensions, by its place:
/// `index` is that of the element of an array of `dimensions` alone, which the range has, that it
/// repeats.
template <class Body>
void for_each_repeated(std::span<const std::uint64_t> shape,
                       std::span<const std::size_t> dimensions, DimensionRange range, Body&& body) {
  std::vector<std::uint64_t> strides(shape.size(), 0);
  std::uint64_t stride = 1;
  for (std::size_t d = dimensions.size(); d-- > 0; stride *= shape[dimensions[d]])
    strides[dimensions[d]] = stride;
  const std::uint64_t elements = range.elements(shape);
  std::vector<std::uint64_t> at(shape.size(), 0);
  std::uint64_t index = 0;
  for (std::uint64_t place = 0; place < elements; ++place) {
    body(place, index);
    for (std::size_t d = range.end; d-- > range.first;) {
      index += strides[d];
      if (++at[d] < shape[d]) break;
      index -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
}

}  // namespace warpfold::pipeline
