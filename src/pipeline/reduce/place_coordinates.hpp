#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {

/// The coordinate of a dimension that elements are reduced along, for the places of extrema.
struct PlaceCoordinate {
  std::string name;      ///< name of the dimension
  std::string units;     ///< CF's attribute; on the root
  std::string calendar;  ///< CF's attribute; on the root
  ElementType type = ElementType::f64;
  std::uint64_t stride = 1;         ///< stride of the dimension's indices in flat ones
  std::vector<std::uint64_t> bits;  ///< value_bits() of each index

  /// Returns elements for places, which are flat indices of i64: value_for_nothing() for -1.
  std::vector<std::byte> at(std::span<const std::byte> places) const;
};

/// Returns the coordinates of some dimensions of a view, whose indices have these strides, if the
/// options ask for places as coordinates; otherwise none. `file` is what describe_output() makes.
/// Collective; throws the same Error on every rank, a usage Error if one has no numbers.
std::vector<PlaceCoordinate> place_coordinates(const ReduceOptions& options, io::OutputSpec file,
                                               const DatasetView& view,
                                               std::span<const int> dimensions,
                                               std::span<const std::uint64_t> strides, Run& run);

}  // namespace warpfold::pipeline
