#include "io/output/free_space.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <optional>

#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

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
              "not enough space: " + std::to_string(bytes) + " bytes are needed, " +
                  (available ? std::to_string(*available) : std::string("fewer")) +
                  " are available in '" + folder + "'",
              "Free some, or name an output elsewhere.");
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
