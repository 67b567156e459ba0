#pragma once

#include <hdf5.h>

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/filters/filter.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/source_files.hpp"

namespace warpfold::io {

/// Verifies that the filters of a dataset, or of the sources of a virtual one, make whole chunks of
/// what is stored. HDF5 itself doesn't, and takes what its memory held before for the elements that
/// are missing. Make, use and destroy within a LibraryScope.
class WholeChunks {
 public:
  WholeChunks(hid_t dataset, const std::string& problem);

  /// Throws an Error beginning with the constructor's `problem` that names a chunk which the
  /// elements of a part, at least one, lie in. Chunks of the call before are not decoded again.
  void require_of(const Selection& part);

 private:
  using Place = std::vector<hsize_t>;  ///< chunks before this one along each dimension

  /// A source of a virtual dataset, open.
  struct Source;

  void require_of_sources(const Selection& part);
  void require_whole(const Place& place);
  void take_type(const std::vector<Filter>& filters);
  DatasetHandle make_chunks() const;
  DatasetHandle copied(const Place& place) const;
  bool passes_filters_by(const Place& place) const;
  [[noreturn]] void refuse(const Place& place, const std::string& why) const;

  hid_t dataset_;
  std::string problem_;
  Place extents_;
  Place chunk_extents_;
  bool partial_chunks_are_unfiltered_ = false;
  std::size_t chunk_bytes_ = 0;
  std::size_t element_bytes_ = 0;
  FileHandle memory_;  ///< has two chunks at a time, the second never written
  TypeHandle type_;    ///< none where nothing is to be verified, or can't be
  SpaceHandle space_;
  PropertiesHandle creation_;
  std::set<Place> whole_;
  std::vector<MappedSource> sources_;
  std::map<std::size_t, std::shared_ptr<Source>> open_sources_;  ///< sources of the last part
};

}  // namespace warpfold::io
