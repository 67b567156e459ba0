#include "io/hdf5/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

std::string cannot_open(const std::string& path) { return "cannot open '" + path + "'"; }

/// Bounds what the library keeps of objects that were opened: decoded, an object header takes ten
/// times the bytes that the library counts.
void limit_cached_metadata(hid_t access) {
  constexpr std::size_t max_bytes = std::size_t{4} << 20;
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  require(H5Pget_mdc_config(access, &cache), "cannot set up file access");
  cache.max_size = max_bytes;
  require(H5Pset_mdc_config(access, &cache), "cannot set up file access");
}

/// Returns whether this HDF5 has a setting to do without locks.
bool disable_locking([[maybe_unused]] hid_t access) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  return H5Pset_file_locking(access, false, true) >= 0;
#else
  return false;
#endif
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_lock_failure(const std::string& causes) { return mentions(causes, "unable to lock file"); }

bool is_held_by_another(const std::string& causes) {
  return is_lock_failure(causes) && mentions(causes, "errno = " + std::to_string(EWOULDBLOCK));
}

FileHandle open_read_only(const std::string& path, hid_t access) {
  return FileHandle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
}

/// Opens, a second time without locks where the file system has none. Returns no handle and sets
/// `causes` where that fails.
FileHandle open_with_or_without_locks(const std::string& path, hid_t access, std::string& causes) {
  FileHandle file = open_read_only(path, access);
  if (file) return file;
  causes = take_library_causes();
  if (!is_lock_failure(causes) || is_held_by_another(causes) || !disable_locking(access)) return {};
  file = open_read_only(path, access);
  if (!file) causes = take_library_causes();
  return file;
}

void require_file(const std::string& path) {
  struct stat status {};
  if (path.empty()) throw Error(cannot_open(path), "the path is empty", "Name an HDF5 file.");
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(cannot_open(path), describe_errno(errno), "Check the path.");
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(cannot_open(path), "it is a folder", "Name an HDF5 file in it.");
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(cannot_open(path), "it is not a regular file", "Name an HDF5 file.");
  }
  if (status.st_size == 0) throw Error(cannot_open(path), "the file is empty", copy_again);
}

bool has_hdf5_signature(const std::string& path, [[maybe_unused]] hid_t access) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Fis_accessible(path.c_str(), access) > 0;
#else
  return H5Fis_hdf5(path.c_str()) > 0;
#endif
}

using namespace std::string_view_literals;

/// Bytes at a file's start that hold HDF5's driver names: after the superblock and the root group's
/// entry.
constexpr std::size_t first_bytes = 1024;

/// How files begin that people take for HDF5 files of their own: of formats whose files have the
/// same endings or come from the same programs, and parts of what HDF5's drivers spread over
/// several.
struct Mark {
  std::string_view bytes;
  bool first;  ///< in the file; otherwise anywhere among the first bytes
  const char* name;
  const char* suggestion;
};

constexpr const char* convert_netcdf = "Convert it with nccopy -k nc4.";
constexpr const char* save_as_73 = "Save it with -v7.3, or in Octave with -hdf5.";
constexpr const char* join_files = "Write it as one file, with h5repart or h5repack.";

constexpr std::array<Mark, 8> marks{{
    {"CDF\x01"sv, true, "it is a netCDF file of the classic format", convert_netcdf},
    {"CDF\x02"sv, true, "it is a netCDF file of the 64-bit offset format", convert_netcdf},
    {"CDF\x05"sv, true, "it is a netCDF file of the CDF-5 format", convert_netcdf},
    {"MATLAB 5.0 MAT-file"sv, true, "it is a MATLAB file of an older format", save_as_73},
    {"\x0e\x03\x13\x01"sv, true, "it is an HDF4 file", "Convert it with h4toh5."},
    {"GRIB"sv, true, "it is a GRIB file", "Convert it with cdo -f nc4 copy."},
    {"NCSAfami"sv, false, "it is one of the files of HDF5's family driver", join_files},
    {"NCSAmult"sv, false, "it is one of the files of HDF5's multi or split driver", join_files},
}};

/// Tells the format of such a file by its first bytes.
std::optional<Mark> foreign_format_of(const std::string& path) {
  std::array<char, first_bytes> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view text(bytes.data(), static_cast<std::size_t>(file.gcount()));
  for (const Mark& mark : marks) {
    const std::size_t place = text.find(mark.bytes);
    if (place == 0 || (place != text.npos && !mark.first)) return mark;
  }
  return std::nullopt;
}

struct KeptPlace {
  hid_t file;
  dev_t device;
  ino_t number;
};

/// Returns the files kept open, by their paths. Guarded by the LibraryScope.
std::map<std::string, KeptPlace>& kept_files() {
  static std::map<std::string, KeptPlace> files;
  return files;
}

/// Returns the file that is kept open, where its path still leads to it.
FileHandle kept_file(const std::string& path) {
  const auto kept = kept_files().find(path);
  struct stat status {};
  if (kept == kept_files().end() || ::stat(path.c_str(), &status) != 0 ||
      status.st_dev != kept->second.device || status.st_ino != kept->second.number)
    return {};
  H5Iinc_ref(kept->second.file);
  return FileHandle(kept->second.file);
}

[[noreturn]] void throw_open_failure(const std::string& path, const std::string& causes,
                                     hid_t access) {
  const std::string problem = cannot_open(path);
  if (!FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))) {
    throw Error(problem, describe_errno(errno),
                "Change its permissions, or ask its owner for access.");
  }
  if (is_held_by_another(causes)) {
    throw Error(problem, "another program has it open for writing",
                "Wait until that program is done.");
  }
  if (mentions(causes, "already open for write")) {
    throw Error(problem, "it is marked as open for writing",
                "Wait until its writer is done; if the writer died, clear the mark with h5clear.");
  }
  if (const auto foreign = foreign_format_of(path))
    throw Error(problem, foreign->name, foreign->suggestion);
  if (mentions(causes, "truncated file")) {
    throw Error(problem, "the file is truncated; " + causes, copy_again);
  }
  if (!has_hdf5_signature(path, access)) {
    throw Error(problem, "it is not an HDF5 file", "Give an HDF5 or netCDF-4 file.");
  }
  throw library_error(problem, causes, "Check the file with h5ls or h5dump.");
}

}  // namespace

PropertiesHandle make_access() {
  PropertiesHandle access(require(H5Pcreate(H5P_FILE_ACCESS), "cannot set up file access"));
  require(H5Pset_fapl_sec2(access.get()), "cannot set up file access");
  limit_cached_metadata(access.get());
  return access;
}

FileHandle open_for_reading(const std::string& path) {
  if (FileHandle kept = kept_file(path)) return kept;
  require_file(path);
  const PropertiesHandle access = make_access();
  std::string causes;
  FileHandle file = open_with_or_without_locks(path, access.get(), causes);
  if (!file) throw_open_failure(path, causes, access.get());
  return file;
}

KeptFile::KeptFile(const std::string& path) : path_(path), file_(open_for_reading(path)) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0)
    is_noted_ =
        kept_files().try_emplace(path, KeptPlace{file_.get(), status.st_dev, status.st_ino}).second;
}

KeptFile::~KeptFile() {
  if (is_noted_) kept_files().erase(path_);
}

PropertiesHandle make_group_creation(hid_t properties, const std::string& problem) {
  PropertiesHandle creation(require(H5Pcreate(properties), problem));
  // netCDF-4 wants to know the order in which things were made.
  constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  require(H5Pset_link_creation_order(creation.get(), order), problem);
  require(H5Pset_attr_creation_order(creation.get(), order), problem);
  require(H5Pset_obj_track_times(creation.get(), false), problem);
  return creation;
}

}  // namespace warpfold::io
