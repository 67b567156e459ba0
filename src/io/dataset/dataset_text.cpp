#include "io/dataset/dataset_text.hpp"

#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"

namespace warpfold::io {

DatasetText read_dataset_text(const std::string& file, const std::string& dataset) {
  const LibraryScope scope;
  const std::string problem = cannot_read(file, dataset);
  const FileHandle opened = open_for_reading(file);
  const DatasetHandle source = open_dataset(opened.get(), file, dataset, problem);
  if (!split_name(opened.get(), dataset).member.empty()) return {};
  return {read_text_attribute(source.get(), "units", problem),
          read_text_attribute(source.get(), "long_name", problem),
          read_text_attribute(source.get(), "cell_methods", problem),
          read_text_attribute(source.get(), "calendar", problem),
          read_text_attribute(source.get(), "standard_name", problem),
          read_text_attribute(source.get(), "bounds", problem)};
}

}  // namespace warpfold::io
