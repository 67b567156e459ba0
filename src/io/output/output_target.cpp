#include "io/output/output_target.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

std::string cannot_write(const std::string& path) { return "cannot write '" + path + "'"; }

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// Returns the status of the name itself, were it a symbolic link.
std::optional<struct stat> status_of_name(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

Error already_there(const std::string& path) {
  return Error(cannot_write(path), "it exists",
               "Give `append` to add to it, or `force` to replace it.");
}

void require_no_input(const OutputSpec& spec) {
  const auto output = status_of(spec.path);
  if (!output) return;
  for (const std::string& file : spec.inputs) {
    const auto input = status_of(file);
    if (!input || output->st_dev != input->st_dev || output->st_ino != input->st_ino) continue;
    throw usage_error(cannot_write(spec.path), "it is the input file '" + file + "' itself",
                      "Give the output another name.");
  }
}

void require_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const auto status = status_of(folder);
  if (!status) {
    const std::string why = errno == ENOENT ? "there is no folder '" + folder + "'"
                                            : "its folder: " + describe_errno(errno);
    throw Error(cannot_write(path), why, "Make the folder, or check the path.");
  }
  if (!S_ISDIR(status->st_mode)) {
    throw Error(cannot_write(path), "'" + folder + "' is not a folder", "Check the path.");
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(cannot_write(path),
                "the folder '" + folder + "' is not writable (" + describe_errno(errno) + ")",
                "Name an output in a folder you may write to.");
  }
}

/// A link to a device, as /dev/stdout, is more than a name of a file.
void require_link_to_file(const std::string& path) {
  const auto target = status_of(path);
  const std::string folder = folder_of(path);
  if ((!target || S_ISREG(target->st_mode)) && folder != "/dev" && !folder.starts_with("/proc/"))
    return;
  throw Error(cannot_write(path), "it is a link to a device, a pipe or an open file",
              "Name a file to be made.");
}

/// HDF5 locks files that it has open: for itself those that it writes to, unless its locks are
/// turned off.
void require_no_writer(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(cannot_write(path), "another program has it open for writing",
              "Wait for that program, or give the output another name.");
}

void require_replaceable(const std::string& path, bool force) {
  const auto status = status_of_name(path);
  if (!status) return;
  if (S_ISDIR(status->st_mode)) {
    throw Error(cannot_write(path), "it is a folder", "Name a file in it.");
  }
  if (!S_ISREG(status->st_mode) && !S_ISLNK(status->st_mode)) {
    throw Error(cannot_write(path), "it is not a regular file", "Give the output another name.");
  }
  if (!force) throw already_there(path);
  if (S_ISLNK(status->st_mode)) require_link_to_file(path);
  require_no_writer(path);
}

/// Requires that datasets may be added to a file.
void require_writable_file(const std::string& path) {
  if (status_of(path) && ::access(path.c_str(), W_OK) != 0)
    throw Error(cannot_write(path), "its datasets cannot be kept (" + describe_errno(errno) + ")",
                "Change its permissions, or give the output another name.");
}

/// Gives a file the mode, and where that is allowed the owner, of the one that it replaces.
void take_permissions(const std::string& temporary, const std::string& path) {
  const auto replaced = status_of_name(path);
  if (!replaced || !S_ISREG(replaced->st_mode)) return;
  constexpr mode_t permissions = 07777;
  // An owner of its own first: a change of owner clears bits of the mode.
  const bool is_given = ::chown(temporary.c_str(), replaced->st_uid, replaced->st_gid) == 0 ||
                        ::chown(temporary.c_str(), static_cast<uid_t>(-1), replaced->st_gid) == 0;
  static_cast<void>(is_given);
  static_cast<void>(::chmod(temporary.c_str(), replaced->st_mode & permissions));
}

/// Renames unless `path` exists; returns 0 or errno. EINVAL or ENOSYS: the system has no such call.
int rename_if_absent(const std::string& temporary, const std::string& path) {
#ifdef RENAME_NOREPLACE
  return ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0
             ? 0
             : errno;
#else
  static_cast<void>(temporary);
  static_cast<void>(path);
  return ENOSYS;
#endif
}

/// A hard link never replaces; returns 0 or errno.
int link_if_absent(const std::string& temporary, const std::string& path) {
  if (::link(temporary.c_str(), path.c_str()) != 0) return errno;
  ::unlink(temporary.c_str());
  return 0;
}

int rename_over(const std::string& temporary, const std::string& path) {
  return std::rename(temporary.c_str(), path.c_str()) == 0 ? 0 : errno;
}

int publish_if_absent(const std::string& temporary, const std::string& path) {
  int error = rename_if_absent(temporary, path);
  if (error == 0 || error == EEXIST) return error;
  error = link_if_absent(temporary, path);
  if (error == 0 || error == EEXIST) return error;
  // File systems with neither call are left with a look just before.
  if (status_of_name(path)) return EEXIST;
  return rename_over(temporary, path);
}

/// Makes the name durable. The file has its name by now, so that a failure is none of the output's.
void sync_folder(const std::string& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor) static_cast<void>(::fsync(descriptor.get()));
}

/// None where the file system does not tell.
std::optional<std::uint64_t> available_bytes(const std::string& folder) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0 || status.f_blocks == 0) return std::nullopt;
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

[[noreturn]] void throw_full(const std::string& problem, const std::string& folder,
                             std::uint64_t bytes) {
  const auto available = available_bytes(folder);
  throw Error(problem,
              "not enough space, " + std::to_string(bytes) + " bytes are needed and " +
                  (available ? std::to_string(*available) : std::string("fewer")) +
                  " are available in '" + folder + "'",
              "Free some space, or name an output elsewhere.");
}

/// Returns 0 or errno.
int reserve(int descriptor, off_t bytes) {
#ifdef __linux__
  // Not posix_fallocate, which writes every block where the file system cannot reserve.
  while (::fallocate(descriptor, 0, 0, bytes) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
#else
  return ::posix_fallocate(descriptor, 0, bytes);
#endif
}

bool is_unsupported(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == ENODEV;
}

}  // namespace

void require_writable_target(const OutputSpec& spec) {
  if (spec.path.empty() || file_name_of(spec.path).empty()) {
    throw usage_error(cannot_write(spec.path), "the path names no file", "Name a file.");
  }
  require_no_input(spec);
  require_folder(spec.path);
  require_replaceable(spec.path, spec.force || spec.keeps_others);
  if (spec.keeps_others) require_writable_file(spec.path);
}

void publish(const std::string& temporary, const std::string& path, bool force) {
  require_replaceable(path, force);
  if (force) take_permissions(temporary, path);
  const int error = force ? rename_over(temporary, path) : publish_if_absent(temporary, path);
  if (error == EEXIST) throw already_there(path);
  if (error != 0) throw Error(cannot_write(path), describe_errno(error), "");
  sync_folder(folder_of(path));
}

void require_free_space(const std::string& folder, std::uint64_t bytes,
                        const std::string& problem) {
  const auto available = available_bytes(folder);
  if (available && *available < bytes) throw_full(problem, folder, bytes);
}

void reserve_storage(const std::string& file, const std::string& problem) {
  const FileDescriptor descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    throw Error(problem, describe_errno(errno), "");
  }
  const int error = reserve(descriptor.get(), status.st_size);
  if (error == ENOSPC)
    throw_full(problem, folder_of(file), static_cast<std::uint64_t>(status.st_size));
  if (error == EDQUOT) {
    throw Error(problem,
                "the disk quota is less than the " + std::to_string(status.st_size) +
                    " bytes that are needed",
                "Free some space, or name an output elsewhere.");
  }
  if (error != 0 && !is_unsupported(error)) throw Error(problem, describe_errno(error), "");
}

}  // namespace warpfold::io
