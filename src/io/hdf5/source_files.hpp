#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/hyperslab.hpp"

namespace warpfold::io {

/// Returns the files that the elements of an open dataset lie in beside `file_path`, which holds
/// it: its raw files, or those of all sources of a virtual dataset, and of theirs. Opens them, as
/// HDF5 itself reads the fill value where a source is missing; throws an Error beginning with
/// `problem` that names what is missing, refused, cannot be checked, or cannot be decoded. Call
/// within a LibraryScope.
std::set<std::string> source_files(hid_t dataset, const std::string& file_path,
                                   const std::string& problem);

/// Throws RefusedFile, beginning with `problem`, where an open dataset, or a source of it, names a
/// file that the rule on external files refuses. Opens none that is refused. To be called before
/// H5Dget_space(), for which HDF5 opens sources. Call within a LibraryScope.
void require_allowed_sources(hid_t dataset, const std::string& problem);

/// Returns the files that external links on the way to `path` lie in. Throws Error. Call within a
/// LibraryScope.
std::set<std::string> files_passed(hid_t file, const std::string& path);

/// Datasets that lie one behind another along a dimension of a virtual one.
struct StackedSources {
  struct Source {
    std::string file;
    std::string dataset;
    std::vector<std::uint64_t> shape;  ///< shape of the whole selection
  };

  std::size_t dimension = 0;
  std::vector<Source> sources;
};

/// Returns the sources of an open dataset whose source_files() are there, if it is a virtual one of
/// the elements of whole datasets of as many dimensions, each behind the one before it. Throws and
/// is called likewise.
std::optional<StackedSources> stacked_sources(hid_t dataset, const std::string& file_path,
                                              const std::string& problem);

/// A source of a virtual dataset.
struct MappedSource {
  std::string file;
  std::string dataset;
  /// The bounds of its elements in the virtual dataset and in the source, where these have the same
  /// extents.
  std::optional<std::pair<Hyperslab, Hyperslab>> boxes;
};

/// Returns the sources of an open virtual dataset whose source_files() are there. Throws and is
/// called likewise.
std::vector<MappedSource> mapped_sources(hid_t dataset, const std::string& file_path,
                                         const std::string& problem);

/// Returns those of source_files() that are named, also where some are missing. Throws RefusedFile.
/// Call within a LibraryScope.
std::set<std::string> found_sources(hid_t dataset, const std::string& file_path,
                                    const std::string& problem);

}  // namespace warpfold::io
