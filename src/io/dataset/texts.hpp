#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// Elements that are texts, in memory.
struct Texts {
  std::vector<std::string> there;  ///< each once, rising
  /// For each selected element the number of its text among them; none if it is empty.
  std::vector<std::optional<std::uint32_t>> numbers;
  std::vector<std::uint64_t> shape;         ///< as selected
  std::set<std::string> files;              ///< that they were read from
  std::function<void()> require_unchanged;  ///< throws an Error where these are not as they were
};

/// Reads what select() selects of a dataset of texts, of fixed or variable length, or of single
/// characters along its last dimension, as classic netCDF has texts. Characters are a text each
/// where `described`, the dataset that they describe, has that dimension, too. None where elements
/// are no texts. Throws Error, also where there are more than 2^27.
std::optional<Texts> read_texts(const std::string& file, const std::string& dataset,
                                const std::function<Selection(const DatasetInfo&)>& select,
                                const DatasetInfo* described = nullptr);

/// Describes a dataset of texts, as read_texts() takes it; none where its elements are no texts.
/// Throws Error.
std::optional<DatasetInfo> describe_texts(const std::string& file, const std::string& dataset,
                                          const DatasetInfo* described);

}  // namespace warpfold::io
