#include "io/hdf5/source_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "io/files/external_files.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/link_access.hpp"
#include "io/hdf5/stored_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Virtual datasets may rest on virtual datasets, by mistake also on themselves.
constexpr int deepest_nesting = 16;

/// A name as HDF5 takes it: "%b" stands for a number, and "%%" for one of these signs.
struct SourceName {
  std::string text;
  bool is_pattern = false;
};

SourceName source_name(const std::string& stored) {
  SourceName name;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const char next = i + 1 < stored.size() ? stored[i + 1] : '\0';
    name.is_pattern |= stored[i] == '%' && next == 'b';
    if (stored[i] == '%' && next == '%') ++i;
    name.text += stored[i];
  }
  return name;
}

struct Mapping {
  std::string file;
  std::string dataset;
  bool is_pattern = false;
  SpaceHandle source_space;
  SpaceHandle space;  ///< selection in the virtual dataset
  bool unlimited = false;
};

Mapping mapping_at(hid_t creation, std::size_t index, const std::string& problem) {
  Mapping mapping;
  mapping.file = queried_name(
      [&](char* text, std::size_t size) {
        return H5Pget_virtual_filename(creation, index, text, size);
      },
      problem);
  mapping.dataset = queried_name(
      [&](char* text, std::size_t size) {
        return H5Pget_virtual_dsetname(creation, index, text, size);
      },
      problem);
  for (std::string* text : {&mapping.file, &mapping.dataset}) {
    SourceName name = source_name(*text);
    mapping.is_pattern |= name.is_pattern;
    *text = std::move(name.text);
  }
  mapping.source_space = SpaceHandle(require(H5Pget_virtual_srcspace(creation, index), problem));
  mapping.space = SpaceHandle(require(H5Pget_virtual_vspace(creation, index), problem));
  mapping.unlimited =
      H5Sget_select_npoints(mapping.space.get()) == static_cast<hssize_t>(H5S_UNLIMITED);
  return mapping;
}

std::vector<std::string> environment_prefixes(const std::filesystem::path& folder) {
  const char* variable = std::getenv("HDF5_VDS_PREFIX");
  std::vector<std::string> prefixes;
  if (variable == nullptr) return prefixes;
  const std::string value = variable;
  std::istringstream entries(value);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.empty()) prefixes.push_back(entry);
  }
  const std::string origin = "${ORIGIN}";
  prefixes.push_back(value.starts_with(origin) ? folder.string() + value.substr(origin.size())
                                               : value);
  return prefixes;
}

/// Returns the places where HDF5 looks for a source file, in its order (see H5Pset_virtual_prefix).
std::vector<std::filesystem::path> candidates_of_source(const std::string& file_path,
                                                        const std::string& source) {
  namespace fs = std::filesystem;
  std::vector<fs::path> candidates;
  fs::path name = source;
  if (name.is_absolute()) {
    candidates.push_back(name);
    name = name.filename();
  }
  const fs::path folder = fs::absolute(file_path).parent_path();
  for (const std::string& prefix : environment_prefixes(folder)) {
    candidates.push_back(fs::path(prefix) / name);
  }
  candidates.push_back(folder / name);
  candidates.push_back(name);
  std::error_code error;
  const fs::path resolved = fs::canonical(file_path, error);
  if (!error) candidates.push_back(resolved.parent_path() / name);
  return candidates;
}

struct SourceFile {
  FileHandle file;
  std::string path;
};

SourceFile open_source_file(const std::string& file_path, const std::string& source,
                            const std::string& problem) {
  // Nothing is looked for where nothing may be read.
  if (external_files_rule() == ExternalFiles::none) require_allowed(source, file_path, problem);
  std::optional<Error> failure;
  for (const auto& candidate : candidates_of_source(file_path, source)) {
    std::error_code error;
    if (!std::filesystem::exists(candidate, error)) continue;
    require_allowed(candidate.string(), file_path, problem);
    try {
      SourceFile opened{open_for_reading(candidate.string()), candidate.string()};
      require_opened_allowed(opened.file.get(), file_path, problem);
      return opened;
    } catch (const RefusedFile&) {
      throw;
    } catch (const Error& why) {
      if (!failure) failure = why;
    }
  }
  throw Error(problem,
              "the source file '" + source + "' of this virtual dataset " +
                  (failure ? "cannot be opened (" + failure->why() + ")" : "is missing"),
              "Put it beside the virtual dataset's file, or set HDF5_VDS_PREFIX to its folder.");
}

/// Returns the path of a mapping's source file; "." stands for the virtual dataset's own.
std::string path_of_source(const Mapping& mapping, const std::string& file_path,
                           const std::string& problem) {
  return mapping.file == "." ? file_path : open_source_file(file_path, mapping.file, problem).path;
}

/// A source may have been made again with fewer elements than the mapping takes from it.
void require_covered(hid_t source, const Mapping& mapping, const std::string& problem) {
  if (mapping.unlimited || H5Sget_select_type(mapping.source_space.get()) != H5S_SEL_HYPERSLABS) {
    return;
  }
  const std::vector<std::uint64_t> shape = shape_of(source, problem);
  const int rank = require(H5Sget_simple_extent_ndims(mapping.source_space.get()), problem);
  bool covered = static_cast<std::size_t>(rank) == shape.size();
  if (covered && rank > 0) {
    std::vector<hsize_t> low(shape.size());
    std::vector<hsize_t> high(shape.size());
    require(H5Sget_select_bounds(mapping.source_space.get(), low.data(), high.data()), problem);
    for (std::size_t d = 0; d < shape.size(); ++d) covered = covered && high[d] < shape[d];
  }
  if (covered) return;
  throw Error(problem,
              "the source '" + mapping.dataset + "' in '" + mapping.file +
                  "' of this virtual dataset has changed its shape",
              "Make the virtual dataset again.");
}

/// HDF5 takes the number of sources with numbered names from those it finds, so a missing one
/// would only make the dataset shorter.
void require_enumerable(const Mapping& mapping, const std::string& problem) {
  if (!mapping.is_pattern) return;
  if (external_files_rule() != ExternalFiles::any)
    throw RefusedFile(problem, "it names its sources by the pattern '" + mapping.file + "', '" +
                                   mapping.dataset + "'");
  if (!mapping.unlimited) return;
  throw Error(problem,
              "this virtual dataset counts its sources by the pattern '" + mapping.file + "', '" +
                  mapping.dataset + "', so that missing ones cannot be detected",
              "Make a virtual dataset that names each source.");
}

class SourceCheck {
 public:
  explicit SourceCheck(const std::string& problem) : problem_(problem) {}

  void check(hid_t file, const std::string& file_path, hid_t dataset, int depth) {
    const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem_));
    if (H5Pget_layout(creation.get()) != H5D_VIRTUAL) {
      if (H5Dget_storage_size(dataset) > 0) require_available(filters_of(creation.get()), problem_);
      const auto raw_files = raw_files_of(dataset, problem_);
      for (const auto& [each, bytes] : raw_files) {
        files_.insert(each);
        require_allowed(each, file_path, problem_);
      }
      for (const auto& [each, bytes] : raw_files) require_raw_file(each, bytes, problem_);
      return;
    }
    if (depth == deepest_nesting) {
      throw Error(problem_, "its virtual datasets refer to each other",
                  "Make the virtual dataset again.");
    }
    std::size_t count = 0;
    require(H5Pget_virtual_count(creation.get(), &count), problem_);
    for (std::size_t i = 0; i < count; ++i) {
      note_failure([&] {
        const Mapping mapping = mapping_at(creation.get(), i, problem_);
        require_enumerable(mapping, problem_);
        check_mapping(file, file_path, mapping, depth);
      });
    }
  }

  /// Does what may find that a source is missing, and goes on; not where a file is refused.
  template <class Body>
  void note_failure(Body&& body) {
    try {
      body();
    } catch (const RefusedFile&) {
      throw;
    } catch (const Error& failure) {
      if (!failure_) failure_ = failure;
    }
  }

  /// Throws what was found first of sources that are missing or cannot be checked.
  void require_whole() const {
    if (failure_) throw *failure_;
  }

  /// Gives away the files of the sources that were found.
  std::set<std::string> files() { return std::move(files_); }

 private:
  void check_mapping(hid_t file, const std::string& file_path, const Mapping& mapping, int depth) {
    if (mapping.file == ".") {
      check_source(file, file_path, mapping, depth);
      return;
    }
    const SourceFile source = open_source_file(file_path, mapping.file, problem_);
    files_.insert(source.path);
    check_source(source.file.get(), source.path, mapping, depth);
  }

  void check_source(hid_t file, const std::string& path, const Mapping& mapping, int depth) {
    PassedLinks passed;
    const ObjectHandle source(
        H5Oopen(file, mapping.dataset.c_str(), make_link_access(&passed).get()));
    if (!passed.refused.empty()) throw RefusedFile(problem_, "it needs '" + passed.refused + "'");
    if (!source || H5Iget_type(source.get()) != H5I_DATASET) {
      throw Error(problem_,
                  "the source '" + mapping.dataset + "' of this virtual dataset is missing in '" +
                      path + "'",
                  "Restore it, or make the virtual dataset again.");
    }
    const std::pair name{path, mapping.dataset};
    if (!checked_.contains(name)) {
      // A link may have led into another file.
      const FileHandle own(require(H5Iget_file_id(source.get()), problem_));
      const std::string own_path = stored_file_of(source.get(), problem_);
      if (own_path != path) {
        require_opened_allowed(source.get(), path, problem_);
        files_.insert(own_path);
      }
      check(own.get(), own_path, source.get(), depth + 1);
      checked_.insert(name);
    }
    require_covered(source.get(), mapping, problem_);
  }

  const std::string& problem_;
  /// Sources that were checked, by file and dataset: many mappings may rest on one, on many levels.
  std::set<std::pair<std::string, std::string>> checked_;
  std::set<std::string> files_;
  std::optional<Error> failure_;
};

SourceCheck checked_sources(hid_t dataset, const std::string& file_path,
                            const std::string& problem) {
  const FileHandle file(require(H5Iget_file_id(dataset), problem));
  SourceCheck sources(problem);
  sources.note_failure([&] { sources.check(file.get(), file_path, dataset, 0); });
  return sources;
}

/// Returns the bounds of what is selected in a space of `rank` dimensions, if it has any.
std::optional<Hyperslab> selected_bounds(hid_t space, std::size_t rank,
                                         const std::string& problem) {
  const hssize_t selected = H5Sget_select_npoints(space);
  const H5S_sel_type kind = H5Sget_select_type(space);
  if (static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)) != rank || selected <= 0 ||
      (kind != H5S_SEL_ALL && kind != H5S_SEL_HYPERSLABS))
    return std::nullopt;
  std::vector<hsize_t> low(rank), high(rank);
  require(H5Sget_select_bounds(space, low.data(), high.data()), problem);
  Hyperslab box;
  for (std::size_t d = 0; d < rank; ++d) {
    box.start.push_back(low[d]);
    box.count.push_back(high[d] - low[d] + 1);
  }
  return box;
}

/// Returns the box that is selected in a space of `rank` dimensions, if it is one of unit steps.
std::optional<Hyperslab> selected_box(hid_t space, std::size_t rank, const std::string& problem) {
  const auto box = selected_bounds(space, rank, problem);
  const bool is_box = box && static_cast<hsize_t>(H5Sget_select_npoints(space)) == box->elements();
  return is_box ? box : std::nullopt;
}

/// Returns whether a mapping takes all of a source of a box's extents; HDF5 doesn't keep these
/// where it takes all by itself.
bool takes_all(hid_t source_space, const Hyperslab& box, const std::string& problem) {
  if (H5Sget_select_type(source_space) == H5S_SEL_ALL) return true;
  const Hyperslab all{std::vector<std::uint64_t>(box.count.size()), box.count};
  return selected_box(source_space, box.count.size(), problem) == all;
}

/// A source, and where its elements are in the virtual dataset.
struct Stacked {
  StackedSources::Source source;
  Hyperslab box;
};

/// Returns the dimension along which boxes fill `shape` one behind another, if they do.
std::optional<std::size_t> stacked_along(const std::vector<Stacked>& sources,
                                         const std::vector<std::uint64_t>& shape) {
  Hyperslab next{std::vector<std::uint64_t>(shape.size()), sources.front().box.count};
  std::size_t dimension = 0;
  while (dimension + 1 < shape.size() && next.count[dimension] == shape[dimension]) ++dimension;
  for (const Stacked& each : sources) {
    next.count[dimension] = each.box.count[dimension];
    if (each.box != next) return std::nullopt;
    next.start[dimension] += next.count[dimension];
  }
  next.count[dimension] = next.start[dimension];
  return next.count == shape ? std::optional(dimension) : std::nullopt;
}

}  // namespace

std::optional<StackedSources> stacked_sources(hid_t dataset, const std::string& file_path,
                                              const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  const std::vector<std::uint64_t> shape = shape_of(dataset, problem);
  std::size_t count = 0;
  require(H5Pget_virtual_count(creation.get(), &count), problem);
  if (shape.empty() || count == 0) return std::nullopt;
  std::vector<Stacked> stacked;
  for (std::size_t i = 0; i < count; ++i) {
    const Mapping mapping = mapping_at(creation.get(), i, problem);
    if (mapping.unlimited) return std::nullopt;
    const auto box = selected_box(mapping.space.get(), shape.size(), problem);
    if (!box || !takes_all(mapping.source_space.get(), *box, problem)) return std::nullopt;
    const std::string file = path_of_source(mapping, file_path, problem);
    stacked.push_back({{file, mapping.dataset, box->count}, *box});
  }
  std::ranges::sort(stacked, {}, [](const Stacked& each) { return each.box.start; });
  const auto dimension = stacked_along(stacked, shape);
  if (!dimension) return std::nullopt;
  StackedSources result{*dimension, {}};
  for (Stacked& each : stacked) result.sources.push_back(std::move(each.source));
  return result;
}

std::vector<MappedSource> mapped_sources(hid_t dataset, const std::string& file_path,
                                         const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  const std::size_t rank = shape_of(dataset, problem).size();
  std::size_t count = 0;
  require(H5Pget_virtual_count(creation.get(), &count), problem);
  std::vector<MappedSource> sources;
  for (std::size_t i = 0; i < count; ++i) {
    Mapping mapping = mapping_at(creation.get(), i, problem);
    MappedSource& source = sources.emplace_back();
    source.file = path_of_source(mapping, file_path, problem);
    source.dataset = std::move(mapping.dataset);
    if (mapping.unlimited) continue;
    const auto box = selected_bounds(mapping.space.get(), rank, problem);
    if (!box) continue;
    std::optional source_box = Hyperslab{std::vector<std::uint64_t>(rank), box->count};
    if (!takes_all(mapping.source_space.get(), *box, problem))
      source_box = selected_bounds(mapping.source_space.get(), rank, problem);
    if (source_box && source_box->count == box->count) source.boxes.emplace(*box, *source_box);
  }
  return sources;
}

std::set<std::string> source_files(hid_t dataset, const std::string& file_path,
                                   const std::string& problem) {
  SourceCheck sources = checked_sources(dataset, file_path, problem);
  sources.require_whole();
  return sources.files();
}

void require_allowed_sources(hid_t dataset, const std::string& problem) {
  if (external_files_rule() == ExternalFiles::any) return;
  checked_sources(dataset, stored_file_of(dataset, problem), problem);
  H5Eclear2(H5E_DEFAULT);
}

std::set<std::string> files_passed(hid_t file, const std::string& path) {
  PassedLinks passed;
  const PropertiesHandle links = make_link_access(&passed);
  const ObjectHandle object(H5Oopen(file, path.c_str(), links.get()));
  return passed.files;
}

std::set<std::string> found_sources(hid_t dataset, const std::string& file_path,
                                    const std::string& problem) {
  return checked_sources(dataset, file_path, problem).files();
}

}  // namespace warpfold::io
