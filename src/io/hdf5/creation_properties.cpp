#include "io/hdf5/creation_properties.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <string_view>
#include <utility>

#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/registered_filters.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Names of HDF5's own filters and of registered plugins, whose files often do not carry a name.
/// Source: the HDF Group's list of registered filters.
constexpr std::array<std::pair<int, std::string_view>, 16> known_filters{{
    {H5Z_FILTER_DEFLATE, "deflate"},
    {H5Z_FILTER_SHUFFLE, "shuffle"},
    {H5Z_FILTER_FLETCHER32, "fletcher32"},
    {H5Z_FILTER_SZIP, "szip"},
    {H5Z_FILTER_NBIT, "nbit"},
    {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
    {307, "bzip2"},
    {32000, "lzf"},
    {32001, "blosc"},
    {32004, "lz4"},
    {32008, "bitshuffle"},
    {32013, "zfp"},
    {32015, "zstd"},
    {32017, "sz"},
    {32024, "sz3"},
    {32026, "blosc2"},
}};

std::string name_of_filter(int id, const char* stored_name) {
  for (const auto& [known_id, name] : known_filters) {
    if (known_id == id) return std::string(name);
  }
  return *stored_name == '\0' ? "unnamed filter" : stored_name;
}

bool can_decode(H5Z_filter_t id) {
  if (H5Zfilter_avail(id) <= 0) return false;
  unsigned configuration = 0;
  if (H5Zget_filter_info(id, &configuration) < 0) return false;
  return (configuration & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
}

constexpr const char* cannot_list_filters = "cannot list a dataset's filters";
/// More HDF5 takes for a mistake.
constexpr std::size_t max_parameters = 256;

/// Does not ask for the filter's configuration, which would fail for one that is missing.
Filter filter_at(hid_t creation, unsigned index) {
  std::vector<unsigned> parameters;
  std::array<char, 256> name{};
  H5Z_filter_t id = 0;
  const auto query = [&] {
    unsigned flags = 0;
    std::size_t count = parameters.size();
    id = require(H5Pget_filter2(creation, index, &flags, &count, parameters.data(), name.size() - 1,
                                name.data(), nullptr),
                 cannot_list_filters);
    return count;
  };
  parameters.resize(std::min(query(), max_parameters));
  query();
  Filter filter{id, name_of_filter(id, name.data()), can_decode(id), std::move(parameters)};
  if (!filter.available) filter.available = register_decoder(filter);
  return filter;
}

}  // namespace

std::vector<Filter> filters_of(hid_t creation) {
  const int count = require(H5Pget_nfilters(creation), cannot_list_filters);
  std::vector<Filter> filters;
  for (int i = 0; i < count; ++i) filters.push_back(filter_at(creation, static_cast<unsigned>(i)));
  return filters;
}

void require_available(const std::vector<Filter>& filters, const std::string& problem) {
  std::string missing;
  for (const Filter& filter : filters) {
    if (filter.available) continue;
    missing +=
        (missing.empty() ? "" : ", ") + filter.name + " (id " + std::to_string(filter.id) + ")";
  }
  if (missing.empty()) return;
  throw Error(problem, "this HDF5 has no filter " + missing,
              "Install its plugin and set HDF5_PLUGIN_PATH to the plugin's folder.");
}

bool may_leave_elements_unset(hid_t creation, const std::string& problem) {
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  H5D_fill_value_t value = H5D_FILL_VALUE_DEFAULT;
  require(H5Pget_fill_time(creation, &time), problem);
  require(H5Pfill_value_defined(creation, &value), problem);
  return time == H5D_FILL_TIME_NEVER || value == H5D_FILL_VALUE_UNDEFINED;
}

std::array<std::byte, 8> fill_value_of(hid_t creation, hid_t file_type,
                                       const std::string& problem) {
  std::array<std::byte, 8> fill{};
  if (may_leave_elements_unset(creation, problem)) return fill;
  require(H5Pget_fill_value(creation, file_type, fill.data()), problem);
  return fill;
}

bool lists_chunks_elsewhere(hid_t dataset, const std::string& problem) {
  H5D_chunk_index_t index{};
  require(H5Dget_chunk_index_type(dataset, &index), problem);
  if (index != H5D_CHUNK_IDX_EARRAY) return false;
  const SpaceHandle space(require(H5Dget_space(dataset), problem));
  std::array<hsize_t, H5S_MAX_RANK> largest{};
  require(H5Sget_simple_extent_dims(space.get(), nullptr, largest.data()), problem);
  return largest[0] != H5S_UNLIMITED;
}

std::map<std::string, std::uint64_t> raw_files_of(hid_t dataset, const std::string& problem) {
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset), problem));
  const PropertiesHandle access(require(H5Dget_access_plist(dataset), problem));
  const std::filesystem::path folder = queried_name(
      [&](char* text, std::size_t size) { return H5Pget_efile_prefix(access.get(), text, size); },
      problem);
  std::map<std::string, std::uint64_t> files;
  const int count = require(H5Pget_external_count(creation.get()), problem);
  std::uint64_t rest = count > 0 ? H5Dget_storage_size(dataset) : 0;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    char name[PATH_MAX + 1] = {};
    off_t offset = 0;
    hsize_t size = 0;
    require(H5Pget_external(creation.get(), i, PATH_MAX, name, &offset, &size), problem);
    const std::uint64_t taken = std::min<std::uint64_t>(size, rest);
    rest -= taken;
    std::uint64_t& bytes = files[(folder / name).string()];
    if (taken > 0) bytes = std::max(bytes, static_cast<std::uint64_t>(offset) + taken);
  }
  return files;
}

void require_raw_file(const std::string& file, std::uint64_t bytes, const std::string& problem) {
  struct stat status {};
  const bool is_there = ::stat(file.c_str(), &status) == 0;
  if (is_there && S_ISREG(status.st_mode)) {
    const auto there = static_cast<std::uint64_t>(status.st_size);
    if (there >= bytes) return;
    throw Error(problem,
                "its raw file '" + file + "' has " + std::to_string(there) + " bytes of " +
                    std::to_string(bytes),
                "Restore it. If zeros are missing at its end, add them by 'truncate -s " +
                    std::to_string(bytes) + "'.");
  }
  throw Error(problem,
              "its raw file '" + file + "' cannot be used (" +
                  (is_there ? "it is not a regular file" : describe_errno(errno)) + ")",
              "Restore it, or set HDF5_EXTFILE_PREFIX to its folder.");
}

}  // namespace warpfold::io
