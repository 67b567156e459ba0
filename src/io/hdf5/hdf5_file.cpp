#include "io/hdf5/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "io/dataset/foreign_format.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_error.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

std::string cannot_open(const std::string& path) { return "cannot open '" + path + "'"; }

PropertiesHandle make_access() {
  PropertiesHandle access(require(H5Pcreate(H5P_FILE_ACCESS), "cannot set up file access"));
  require(H5Pset_fapl_sec2(access.get()), "cannot set up file access");
  return access;
}

/// Whether this HDF5 could be told to do without locks.
bool disable_locking([[maybe_unused]] hid_t access) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  return H5Pset_file_locking(access, false, true) >= 0;
#else
  return false;
#endif
}

PropertiesHandle make_unlocked_access() {
  PropertiesHandle access = make_access();
  disable_locking(access.get());
  return access;
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

void require_readable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(cannot_open(path), describe_errno(errno), "Check the path.");
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(cannot_open(path), "it is a folder", "Name an HDF5 file in it.");
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(cannot_open(path), "it is not a regular file", "Name an HDF5 file.");
  }
  if (!FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))) {
    throw Error(cannot_open(path), describe_errno(errno), "Ask for read access to it.");
  }
}

bool has_hdf5_signature(const std::string& path, [[maybe_unused]] hid_t access) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Fis_accessible(path.c_str(), access) > 0;
#else
  return H5Fis_hdf5(path.c_str()) > 0;
#endif
}

[[noreturn]] void throw_open_failure(const std::string& path, const std::string& causes,
                                     hid_t access) {
  const std::string problem = cannot_open(path);
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
    throw Error(problem, "the file is truncated; " + causes,
                "Copy it again, or check whether its writer was interrupted.");
  }
  if (!has_hdf5_signature(path, access)) {
    throw Error(problem, "it is not an HDF5 file", "Give an HDF5 or netCDF-4 file.");
  }
  throw Error(problem, causes, advice_on(causes, "Check the file with h5ls or h5dump."));
}

}  // namespace

FileHandle open_for_reading(const std::string& path) {
  require_readable(path);
  const PropertiesHandle access = make_access();
  std::string causes;
  FileHandle file = open_with_or_without_locks(path, access.get(), causes);
  if (!file) throw_open_failure(path, causes, access.get());
  return file;
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

FileHandle create_own(const std::string& path, Alignment alignment) {
  const std::string problem = "cannot create '" + path + "'";
  const PropertiesHandle access = make_unlocked_access();
  require(H5Pset_alignment(access.get(), alignment.threshold, alignment.boundary), problem);
  // The format of 1.8 is the oldest that can hold attributes of more than 64 KiB.
  require(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), problem);
  const PropertiesHandle creation = make_group_creation(H5P_FILE_CREATE, problem);
  FileHandle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  if (file) return file;
  throw_library_error(problem, "Check the folder and the free space in it.");
}

FileHandle open_own(const std::string& path) {
  return FileHandle(require(H5Fopen(path.c_str(), H5F_ACC_RDWR, make_unlocked_access().get()),
                            cannot_open(path)));
}

}  // namespace warpfold::io
