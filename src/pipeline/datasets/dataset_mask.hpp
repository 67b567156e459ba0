#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/values/decoding.hpp"
#include "core/values/mask.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// The most memory of a rank that a mask may take: 2^31 elements.
inline constexpr std::uint64_t max_mask_bytes = std::uint64_t{256} << 20;

/// Returns the conditions on datasets beside a dataset of `file`. For one rank; throws a usage
/// Error.
std::vector<NamedCondition> conditions_beside(const ViewOptions& options, const std::string& file);

/// Opens the dataset of a condition, of which it selects what belongs to what is selected of
/// another, on one rank. Throws as io::Dataset does; a usage Error where its shape does not fit, an
/// Error where that part is too large.
SharedDataset open_mask(const NamedCondition& condition, const io::DatasetInfo& masked,
                        Matching matching);

/// Bits of the indices that are kept along some dimensions; all are along others.
class KeptIndices {
 public:
  using Lines = std::map<std::size_t, std::vector<std::uint64_t>>;

  /// Keeps none along a dimension whose bit is 0.
  void keep(std::size_t dimension, const std::vector<std::uint64_t>& words);

  const Lines& lines() const { return lines_; }

  /// Returns the range from the first to the last of some indices that is kept.
  ElementRange within(ElementRange indices, std::size_t dimension) const;

 private:
  Lines lines_;
};

/// Which elements of a dataset count, as other datasets tell, in the memory of every rank.
class DatasetMask {
 public:
  /// All elements of an array of `shape` count.
  explicit DatasetMask(std::span<const std::uint64_t> shape)
      : shape_(shape.begin(), shape.end()), range_(range_of({}, shape)) {}

  /// Leaves out the elements where those of a dataset beside it, which has `dimensions` of the
  /// shape and is not empty, are not decoded. Ranks read a share each. Returns how many are
  /// decoded. Collective; throws the same Error on every rank.
  std::uint64_t take(io::Dataset& dataset, std::span<const std::size_t> dimensions,
                     const Decoding& decoding, Run& run);

  /// Leaves out the elements whose bits are 0, of an array of `dimensions` of the shape called
  /// `name`. Collective; throws the same Error on every rank.
  void keep(std::vector<std::uint64_t> words, std::span<const std::size_t> dimensions,
            const std::string& name, Run& run);

  /// Returns the indices that conditions of one dimension keep.
  const KeptIndices& indices() const { return indices_; }

  Mask bits() const { return {words_.data(), range_.elements(shape_), range_.stride(shape_)}; }

 private:
  std::vector<std::uint64_t> shape_;
  DimensionRange range_;
  std::vector<std::uint64_t> words_;  ///< none: all elements count
  KeptIndices indices_;
};

}  // namespace warpfold::pipeline
