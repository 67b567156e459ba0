#include "io/dataset/dataset_info.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/text.hpp"
#include "io/files/byte_runs.hpp"
#include "io/files/posix_file.hpp"
#include "io/filters/filter_step.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/netcdf_variable.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

Layout layout_of(hid_t creation, const std::string& problem) {
  switch (require(H5Pget_layout(creation), problem)) {
    case H5D_COMPACT:
      return Layout::compact;
    case H5D_CHUNKED:
      return Layout::chunked;
    case H5D_VIRTUAL:
      return Layout::virtual_;
    default:
      break;
  }
  return require(H5Pget_external_count(creation), problem) > 0 ? Layout::external
                                                               : Layout::contiguous;
}

Error damaged_chunk_shape(const std::string& problem) {
  return Error(problem, "the file is damaged, as no chunks can have the shape that it states",
               copy_again);
}

/// Throws for extents that no writer can have given, on whose product others rely.
std::vector<std::uint64_t> chunk_shape_of(hid_t creation, std::size_t rank,
                                          std::size_t element_bytes, const std::string& problem) {
  std::vector<hsize_t> extents(rank);
  const int dimensions =
      require(H5Pget_chunk(creation, static_cast<int>(rank), extents.data()), problem);
  std::uint64_t maximum = std::numeric_limits<std::int64_t>::max() / element_bytes;
  for (const std::uint64_t extent : extents) {
    if (extent == 0 || extent > maximum) throw damaged_chunk_shape(problem);
    maximum /= extent;
  }
  if (static_cast<std::size_t>(dimensions) != rank) throw damaged_chunk_shape(problem);
  return {extents.begin(), extents.end()};
}

bool filters_partial_edge_chunks(hid_t creation, const std::string& problem) {
  unsigned options = 0;
  require(H5Pget_chunk_opts(creation, &options), problem);
  return (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
}

/// Returns the number of elements; an Error where their bytes cannot be counted in 64 bits.
std::uint64_t count_elements(hid_t dataset, const std::vector<std::uint64_t>& shape,
                             std::size_t element_bytes, const std::string& problem) {
  const SpaceHandle space(require(H5Dget_space(dataset), problem));
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return 0;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return 0;
  }
  std::uint64_t maximum = std::numeric_limits<std::int64_t>::max() / element_bytes;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) {
    if (extent > maximum) throw Error(problem, "it has more bytes than 63 bits can count", "");
    maximum /= extent;
    elements *= extent;
  }
  return elements;
}

/// HDF5 gives an address also for some datasets that are not allocated, where the file begins with
/// a user block; hence the question for the stored size, which is 0 for those.
std::optional<std::uint64_t> contiguous_offset(hid_t dataset, const DatasetInfo& info) {
  if (info.layout != Layout::contiguous || info.elements == 0) return std::nullopt;
  if (info.stored_bytes != info.elements * size_of(info.format.type)) return std::nullopt;
  const haddr_t offset = H5Dget_offset(dataset);
  constexpr haddr_t largest_file = std::numeric_limits<std::int64_t>::max();
  if (offset > largest_file - info.stored_bytes) return std::nullopt;
  return offset;
}

/// HDF5 gives 0 where it fails, too: where it can't read the index of chunks, for one.
std::uint64_t stored_bytes_of(hid_t dataset, const std::string& problem) {
  const hsize_t bytes = H5Dget_storage_size(dataset);
  if (bytes == 0 && H5Eget_num(H5E_DEFAULT) > 0) throw_library_error(problem, copy_again);
  return bytes;
}

/// HDF5 reads on behind elements that lie in the object's header.
void require_stored_whole(const DatasetInfo& info, std::size_t element_bytes,
                          const std::string& problem) {
  if (info.layout != Layout::compact && (info.layout != Layout::contiguous || !info.stored_bytes))
    return;
  const std::uint64_t bytes = info.elements * element_bytes;
  if (info.stored_bytes >= bytes) return;
  throw Error(problem,
              std::to_string(info.stored_bytes) + " bytes are stored, its elements have " +
                  std::to_string(bytes),
              copy_again);
}

/// Each takes memory for what it leaves to the next one; real pipelines have three or four.
constexpr std::size_t max_filters = 8;
/// A slab has as many, which takes at least a chunk.
constexpr std::uint64_t max_decoded_chunk_bytes = std::uint64_t{1} << 30;

std::string reason_against_chunks(const DatasetInfo& info) {
  if (chunk_bytes_of(info) > max_decoded_chunk_bytes) return "its chunks have more than 1 GiB";
  if (grid_of(info).chunks() > most_chunks) {
    return "it has more than " + std::to_string(most_chunks) + " chunks";
  }
  if (info.filters.size() > max_filters) {
    return "it has more than " + std::to_string(max_filters) + " filters";
  }
  const std::string undecodable = undecodable_filters(info.filters);
  return undecodable.empty() ? "" : "warpfold cannot undo " + undecodable;
}

std::string reason_against_bytes(const DatasetInfo& info) {
  if (info.file_offset) return "";
  return info.stored_bytes == 0 ? "nothing was ever written, so all elements are the fill value"
                                : "its stored size is not that of its elements";
}

/// As netCDF programs mark integers for formats that have none without a sign.
bool is_marked_unsigned(hid_t dataset, ElementType type, const std::string& problem) {
  if (!is_signed_integer(type)) return false;
  const auto mark = read_text_attribute(dataset, "_Unsigned", problem);
  return mark == "true" || mark == "True";
}

/// Takes a netCDF variable for one of all records of its unlimited dimensions.
void take_missing_records(DatasetInfo& info, hid_t dataset, hid_t file_type) {
  const std::vector<std::uint64_t> shape =
      with_missing_records(dataset, info.stored_shape, info.problem);
  if (shape == info.stored_shape) return;
  info.written_shape = std::exchange(info.stored_shape, shape);
  info.missing_element =
      element_of_missing_records(dataset, file_type, info.format.type, info.problem);
  info.notes.push_back("'" + info.name + "' in '" + info.file + "' has " +
                       joined(info.written_shape, " x ") + " of " + joined(shape, " x ") +
                       " elements; records that it lacks are fill values.");
}

/// Returns whether chunks that are not there are what a dataset lacks of its records.
bool has_missing_records_in_chunks(const DatasetInfo& info) {
  if (info.written_shape.empty()) return true;
  for (std::size_t d = 0; d < info.written_shape.size(); ++d)
    if (info.written_shape[d] != info.stored_shape[d] &&
        info.written_shape[d] % info.chunk_shape[d] != 0)
      return false;
  return info.missing_element == info.fill;
}

/// Counts the chunks that were never written; those of records that are missing are not there.
std::uint64_t count_unwritten_chunks(hid_t dataset, const DatasetInfo& info) {
#if H5_VERSION_GE(1, 10, 5)
  const std::vector<std::uint64_t>& shape =
      info.written_shape.empty() ? info.stored_shape : info.written_shape;
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  const std::uint64_t all = chunk_grid(shape, info.chunk_shape).chunks();
  hsize_t written = 0;
  const SpaceHandle space(require(H5Dget_space(dataset), info.problem));
  if (H5Dget_num_chunks(dataset, space.get(), &written) >= 0)
    return all - std::min<std::uint64_t>(all, written);
  H5Eclear2(H5E_DEFAULT);
#endif
  return 0;
}

/// Says why chunks cannot be found by what HDF5 lists of them, or empty.
std::string reason_against_index(hid_t dataset, const DatasetInfo& info) {
  if (!WARPFOLD_HDF5_ITERATES_CHUNKS || info.layout != Layout::chunked) return "";
  if (!lists_chunks_elsewhere(dataset, info.problem)) return "";
  return "this HDF5 lists its chunks at other coordinates than theirs";
}

/// Says why neither byte ranges nor chunks of the file are its elements, or empty. `inexact`: why
/// the stored bits are not those of `info.format`, or empty.
std::string reason_for_library(const DatasetInfo& info, const std::string& inexact) {
  if (info.elements == 0) return "it has no elements";
  if (!has_missing_records_in_chunks(info)) return "it lacks records of a part of a chunk";
  if (!inexact.empty()) return inexact;
  switch (info.layout) {
    case Layout::compact:
      return "its elements lie in the object's header";
    case Layout::external:
      return "its elements lie in other files";
    case Layout::virtual_:
      return "its elements are those of other datasets";
    case Layout::chunked:
      return reason_against_chunks(info);
    case Layout::contiguous:
      break;
  }
  return reason_against_bytes(info);
}

std::string reason_against(const DatasetInfo& info) {
  switch (info.path) {
    case ReadPath::direct:
      return info.layout == Layout::chunked ? "its chunks have no filters" : "it has no chunks";
    case ReadPath::chunk:
      return "its chunks are filtered";
    default:
      return info.path_reason;
  }
}

std::string reason_against_part(const ElementPart& part) {
  return part.layers.front().extents.empty() ? "it is one member of compound elements"
                                             : "its elements are arrays";
}

/// Makes dimensions of the arrays that elements are.
void add_dimensions(DatasetInfo& info, const std::vector<std::uint64_t>& extents) {
  if (info.elements == 0 && info.stored_shape.empty()) return;
  if (info.stored_shape.size() + extents.size() > max_dimensions)
    throw Error(info.problem,
                "with those of its arrays it has " +
                    std::to_string(info.stored_shape.size() + extents.size()) + " dimensions",
                "Datasets of at most " + std::to_string(max_dimensions) + " can be read.");
  for (const std::uint64_t extent : extents) {
    info.stored_shape.push_back(extent);
    if (info.layout == Layout::chunked) info.chunk_shape.push_back(extent);
    info.elements *= extent;
  }
  info.shape = info.stored_shape;
}

/// Sets the quickest path to a dataset that is described otherwise, and why there is none quicker.
/// `inexact` as reason_for_library()'s.
void choose_path(DatasetInfo& info, const std::string& inexact) {
  info.path_reason = reason_for_library(info, inexact);
  if (!info.path_reason.empty()) {
    info.path = ReadPath::library;
  } else {
    info.path = info.filters.empty() ? ReadPath::direct : ReadPath::chunk;
  }
}

}  // namespace

DatasetInfo describe_dataset(hid_t dataset, hid_t creation, const StoredType& type,
                             const ElementPart& part, const std::string& file,
                             const std::string& name) {
  const std::string problem = cannot_read(file, name);
  DatasetInfo info;
  info.file = file;
  info.name = name;
  info.problem = problem;
  info.stored_file = stored_file_of(dataset, problem);
  info.format = type.format.value();
  info.stored_type = type.name;
  const TypeHandle file_type(require(H5Dget_type(dataset), problem));
  const std::size_t element_bytes = H5Tget_size(file_type.get());
  const bool whole = part.layers.empty();
  const bool exact = type.exact && whole;
  const bool widens = type.narrow.kind != NarrowElements::Kind::whole && whole;
  if (widens) info.narrow = type.narrow;
  info.marked_unsigned = whole && is_marked_unsigned(dataset, info.format.type, problem);
  info.stored_shape = shape_of(dataset, problem);
  if (whole) take_missing_records(info, dataset, file_type.get());
  info.has_default_fill = whole && has_default_fill(dataset, creation, info.format.type, problem);
  info.shape = info.stored_shape;
  const std::uint64_t read_bytes = product(part.extents) * size_of(info.format.type);
  info.elements = count_elements(dataset, info.shape, std::max(element_bytes, read_bytes), problem);
  info.layout = layout_of(creation, problem);
  if (info.layout == Layout::chunked) {
    info.chunk_shape = chunk_shape_of(creation, info.shape.size(), element_bytes, problem);
    info.partial_edge_chunks_filtered = filters_partial_edge_chunks(creation, problem);
    info.unwritten_chunks = count_unwritten_chunks(dataset, info);
  }
  info.filters = filters_of(creation);
  info.stored_bytes = stored_bytes_of(dataset, problem);
  require_stored_whole(info, element_bytes, problem);
  if (exact) {
    info.fill = fill_value_of(creation, file_type.get(), problem);
    info.file_offset = contiguous_offset(dataset, info);
  }
  const bool is_widened = widens && info.layout == Layout::chunked && !info.filters.empty();
  if (is_widened) info.fill = fill_value_of(creation, make_type(info.format).get(), problem);
  choose_path(info, exact || is_widened ? reason_against_index(dataset, info)
                    : whole             ? "HDF5 has to convert its elements"
                                        : reason_against_part(part));
  add_dimensions(info, part.extents);
  return info;
}

std::optional<NumberType> number_type_of(hid_t dataset, const std::string& problem) {
  const TypeHandle type(require(H5Dget_type(dataset), problem));
  const auto format = describe_type(type.get()).format;
  if (!format) return std::nullopt;
  const ElementType stored = format->type;
  const bool is_unsigned = is_marked_unsigned(dataset, stored, problem);
  return NumberType{stored, is_unsigned ? unsigned_type(stored) : stored};
}

void take_as_unsigned(StoredDataset& info) {
  if (!info.marked_unsigned || info.taken_as_unsigned) return;
  info.taken_as_unsigned = true;
  info.format.type = unsigned_type(info.format.type);
}

void take_path(DatasetInfo& info, ReadPath wanted, const std::string& problem) {
  if (wanted == ReadPath::automatic || wanted == info.path) return;
  if (wanted == ReadPath::library) {
    info.path = ReadPath::library;
    info.path_reason = "it was requested";
    return;
  }
  const std::string name = wanted == ReadPath::direct ? "direct" : "chunk";
  throw usage_error(problem,
                    reason_against(info) + ", so the path '" + name + "' is not open to it",
                    "Let the path be chosen automatically.");
}

void take_selection(DatasetInfo& info, const Selection& selection) {
  if (info.stored_shape.empty()) return;
  const bool everything = takes_everything(selection, info.stored_shape);
  info.selection = everything ? Selection{} : selection;
  info.shape = selected_shape(selection);
  info.elements = 1;
  for (const std::uint64_t extent : info.shape) info.elements *= extent;
}

std::uint64_t bytes_to_read(const DatasetInfo& info) {
  if (info.layout == Layout::chunked && info.elements > 0) {
    const auto chunks = static_cast<double>(grid_of(info).chunks());
    const auto all = static_cast<double>(chunk_grid(info.stored_shape, info.chunk_shape).chunks());
    return static_cast<std::uint64_t>(static_cast<double>(info.stored_bytes) * (chunks / all));
  }
  if (info.selection.empty() || !info.file_offset) return info.elements * size_of(info.format.type);
  return PartLayout(0, info.stored_shape, size_of(info.format.type), info.selection)
      .bytes_to_read();
}

bool has_filter(const StoredDataset& info, int id) {
  return std::ranges::find(info.filters, id, &Filter::id) != info.filters.end();
}

std::uint64_t chunk_bytes_of(const StoredDataset& info) {
  std::uint64_t bytes = size_of(info.format.type);
  for (const std::uint64_t extent : info.chunk_shape) bytes *= extent;
  return bytes;
}

ChunkGrid grid_of(const DatasetInfo& info) {
  return chunk_grid(info.stored_shape, info.chunk_shape, info.selection);
}

std::set<std::string> input_files(const DatasetInfo& info) {
  std::set<std::string> files = info.source_files;
  files.insert(info.link_files.begin(), info.link_files.end());
  files.insert({info.file, info.stored_file});
  return files;
}

Selection selection_of(const DatasetInfo& info) {
  if (!info.selection.empty()) return info.selection;
  Selection everything;
  for (const std::uint64_t extent : info.stored_shape) everything.push_back({0, extent});
  return everything;
}

Selection part_of_box(const DatasetInfo& info, const Hyperslab& box) {
  const Selection selection = selection_of(info);
  return part_of(selection, with_dropped_dimensions(selection, box));
}

}  // namespace warpfold::io
