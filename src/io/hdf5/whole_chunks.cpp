#include "io/hdf5/whole_chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/layout/hyperslab.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/link_access.hpp"
#include "io/hdf5/stored_values.hpp"

namespace warpfold::io {
namespace {

/// A filter number that HDF5 reserves for tests: no file but one in memory here has this filter.
constexpr H5Z_filter_t measuring_filter = 511;

/// The bytes that the filters behind measuring_filter made of a chunk. A filter is handed nothing
/// that it could store them in.
std::size_t measured_bytes = 0;

std::size_t measure(unsigned flags, std::size_t, const unsigned[], std::size_t bytes, std::size_t*,
                    void**) {
  if ((flags & H5Z_FLAG_REVERSE) != 0) measured_bytes = bytes;
  return bytes;
}

void register_measuring_filter(const std::string& problem) {
  static constexpr H5Z_class2_t measuring{H5Z_CLASS_T_VERS,   measuring_filter, 1,       1,
                                          "warpfold measure", nullptr,          nullptr, measure};
  require(H5Zregister(&measuring), problem);
}

/// Returns creation properties with these filters behind one that sees what they make of a chunk.
PropertiesHandle with_measuring_filter(hid_t creation, const std::vector<Filter>& filters,
                                       const std::string& problem) {
  register_measuring_filter(problem);
  PropertiesHandle measured(require(H5Pcopy(creation), problem));
  require(H5Premove_filter(measured.get(), H5Z_FILTER_ALL), problem);
  require(H5Pset_filter(measured.get(), measuring_filter, H5Z_FLAG_MANDATORY, 0, nullptr), problem);
  for (const Filter& filter : filters)
    require(H5Pset_filter(measured.get(), filter.id, H5Z_FLAG_OPTIONAL, filter.parameters.size(),
                          filter.parameters.data()),
            problem);
  require(H5Pset_alloc_time(measured.get(), H5D_ALLOC_TIME_INCR), problem);
  return measured;
}

FileHandle make_file_in_memory(const std::string& problem) {
  static std::uint64_t made = 0;
  constexpr std::size_t increment = std::size_t{1} << 16;
  const PropertiesHandle access(require(H5Pcreate(H5P_FILE_ACCESS), problem));
  require(H5Pset_fapl_core(access.get(), increment, false), problem);
  const std::string name = "warpfold chunk " + std::to_string(made++);
  return FileHandle(
      require(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), problem));
}

/// Returns the bytes of an element in a file: those of variable length have another size in memory.
std::size_t stored_bytes_of(hid_t type, hid_t file, const std::string& problem) {
  const PropertiesHandle creation(require(H5Pcreate(H5P_DATASET_CREATE), problem));
  require(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), problem);
  const DatasetHandle one(require(H5Dcreate2(file, "element", type, make_space({}, problem).get(),
                                             H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                                  problem));
  return H5Dget_storage_size(one.get());
}

/// Returns whether elements are numbers, which refer to no other bytes of their file.
bool are_numbers(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return type_class == H5T_INTEGER || type_class == H5T_FLOAT || type_class == H5T_ENUM;
}

/// Returns whether what filters make depends on the elements' type beyond its size.
bool depend_on_type(const std::vector<Filter>& filters) {
  return std::ranges::any_of(filters,
                             [](const Filter& each) { return each.id == H5Z_FILTER_NBIT; });
}

std::vector<hsize_t> chunks_along(const Slice& slice, hsize_t chunk_extent) {
  std::vector<hsize_t> chunks;
  for (std::uint64_t i = 0; i < slice.count;) {
    chunks.push_back((slice.start + i * slice.step) / chunk_extent);
    const std::uint64_t next = (chunks.back() + 1) * chunk_extent;
    i = (next - slice.start + slice.step - 1) / slice.step;
  }
  return chunks;
}

/// Returns what a part of a virtual dataset takes of a source; none where that is nothing.
std::optional<Selection> part_of_source(const Selection& part, const MappedSource& source,
                                        std::span<const std::uint64_t> shape) {
  if (!source.boxes) return parse_selection("", shape);
  const auto& [box, source_box] = *source.boxes;
  Selection taken;
  for (std::size_t d = 0; d < part.size(); ++d) {
    taken.push_back(slice_within(part[d], {box.start[d], box.count[d]}));
    if (taken.back().count == 0) return std::nullopt;
    taken.back().start += source_box.start[d];
  }
  return taken;
}

}  // namespace

struct WholeChunks::Source {
  Source(const MappedSource& mapped, const std::string& problem)
      : file(open_for_reading(mapped.file)),
        dataset(open_object(file.get(), mapped.dataset)),
        shape(shape_of(require(dataset.get(), problem), problem)),
        chunks(dataset.get(), problem + ", of which '" + mapped.file + "' has a part") {}

  FileHandle file;
  ObjectHandle dataset;
  std::vector<std::uint64_t> shape;
  WholeChunks chunks;
};

WholeChunks::WholeChunks(hid_t dataset, const std::string& problem)
    : dataset_(dataset), problem_(problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem_));
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout == H5D_VIRTUAL)
    sources_ = mapped_sources(dataset, stored_file_of(dataset, problem_), problem_);
  if (layout != H5D_CHUNKED) return;
  const std::vector<Filter> filters = filters_of(creation.get());
  if (filters.empty()) return;
  const std::vector<std::uint64_t> shape = shape_of(dataset, problem_);
  extents_.assign(shape.begin(), shape.end());
  chunk_extents_.resize(extents_.size());
  const int rank = static_cast<int>(extents_.size());
  require(H5Pget_chunk(creation.get(), rank, chunk_extents_.data()), problem_);
  unsigned options = 0;
  require(H5Pget_chunk_opts(creation.get(), &options), problem_);
  partial_chunks_are_unfiltered_ = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  memory_ = make_file_in_memory(problem_);
  take_type(filters);
  if (!type_) return;
  chunk_bytes_ = std::accumulate(chunk_extents_.begin(), chunk_extents_.end(), element_bytes_,
                                 std::multiplies<>());
  Place two_chunks = chunk_extents_;
  two_chunks.front() *= 2;
  space_ = SpaceHandle(require(H5Screate_simple(rank, two_chunks.data(), nullptr), problem_));
  creation_ = with_measuring_filter(creation.get(), filters, problem_);
  if (!make_chunks()) type_.close();
}

void WholeChunks::take_type(const std::vector<Filter>& filters) {
  TypeHandle type(require(H5Dget_type(dataset_), problem_));
  if (are_numbers(type.get())) {
    element_bytes_ = H5Tget_size(type.get());
    type_ = std::move(type);
  } else if (!depend_on_type(filters)) {
    element_bytes_ = stored_bytes_of(type.get(), memory_.get(), problem_);
    type_ = TypeHandle(require(H5Tcreate(H5T_OPAQUE, element_bytes_), problem_));
  }
}

/// Makes a dataset of two chunks in memory; none where HDF5 can't encode by a filter.
DatasetHandle WholeChunks::make_chunks() const {
  DatasetHandle made(
      H5Dcreate_anon(memory_.get(), type_.get(), space_.get(), creation_.get(), H5P_DEFAULT));
  if (!made) H5Eclear2(H5E_DEFAULT);
  return made;
}

void WholeChunks::require_of_sources(const Selection& part) {
  const auto before = std::exchange(open_sources_, {});
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].boxes && !part_of_source(part, sources_[i], {})) continue;
    const auto known = before.find(i);
    const auto source =
        known != before.end() ? known->second : std::make_shared<Source>(sources_[i], problem_);
    source->chunks.require_of(*part_of_source(part, sources_[i], source->shape));
    open_sources_.emplace(i, source);
  }
}

void WholeChunks::require_of(const Selection& part) {
  if (!sources_.empty()) require_of_sources(part);
  if (!type_) return;
  std::vector<std::vector<hsize_t>> along;
  for (std::size_t d = 0; d < part.size(); ++d)
    along.push_back(chunks_along(part[d], chunk_extents_[d]));
  const std::set<Place> before = std::exchange(whole_, {});
  std::vector<std::size_t> at(along.size());
  Place place(along.size());
  for (std::size_t d = 0; d < along.size();) {
    for (std::size_t i = 0; i < along.size(); ++i) place[i] = along[i][at[i]];
    if (!before.contains(place)) require_whole(place);
    whole_.insert(place);
    for (d = 0; d < along.size() && ++at[d] == along[d].size(); ++d) at[d] = 0;
  }
}

void WholeChunks::require_whole(const Place& place) {
  if (passes_filters_by(place)) return;
  const DatasetHandle copy = copied(place);
  if (!copy) return;
  const Place origin(place.size());
  const SpaceHandle space(require(H5Scopy(space_.get()), problem_));
  require(H5Sselect_elements(space.get(), H5S_SELECT_SET, 1, origin.data()), problem_);
  const SpaceHandle one(require(H5Screate(H5S_SCALAR), problem_));
  std::vector<std::byte> element(element_bytes_);
  measured_bytes = 0;
  if (H5Dread(copy.get(), type_.get(), one.get(), space.get(), H5P_DEFAULT, element.data()) < 0)
    refuse(place, take_library_causes());
  if (measured_bytes != chunk_bytes_)
    refuse(place, "it has " + std::to_string(measured_bytes) + " bytes without its filters, " +
                      std::to_string(chunk_bytes_) + " are a chunk");
}

/// Returns chunks in memory of which the first is stored as that one is; none if it never was.
DatasetHandle WholeChunks::copied(const Place& place) const {
  Place first(place.size());
  std::ranges::transform(place, chunk_extents_, first.begin(), std::multiplies<>());
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset_, first.data(), &bytes) < 0 || bytes == 0) {
    H5Eclear2(H5E_DEFAULT);
    return {};
  }
  const auto stored = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::uint32_t skipped = 0;
  Place there(place.size());
  DatasetHandle copy = make_chunks();
  if (H5Dread_chunk(dataset_, H5P_DEFAULT, first.data(), &skipped, stored.get()) < 0 ||
      H5Dwrite_chunk(copy.get(), H5P_DEFAULT, skipped << 1, there.data(), bytes, stored.get()) < 0)
    refuse(place, take_library_causes());
  // HDF5 1.10 remembers the last chunk as it was before it was written, until it meets another.
  there.front() = chunk_extents_.front();
  if (H5Dget_chunk_storage_size(copy.get(), there.data(), &bytes) < 0) H5Eclear2(H5E_DEFAULT);
  return copy;
}

bool WholeChunks::passes_filters_by(const Place& place) const {
  bool is_partial = false;
  for (std::size_t d = 0; d < place.size(); ++d)
    is_partial |= (place[d] + 1) * chunk_extents_[d] > extents_[d];
  return is_partial && partial_chunks_are_unfiltered_;
}

void WholeChunks::refuse(const Place& place, const std::string& why) const {
  std::string name;
  for (const hsize_t coordinate : place)
    name += (name.empty() ? "chunk [" : ", ") + std::to_string(coordinate);
  throw Error(problem_, name + "] is unreadable; " + why, "Copy the file again from its source.");
}

}  // namespace warpfold::io
