#include "io/files/posix_file.hpp"

#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace warpfold::io {
namespace {

std::size_t next_transfer(std::uint64_t bytes_left) {
  return static_cast<std::size_t>(std::min(bytes_left, largest_transfer));
}

/// Calls `transfer(done, bytes)` as pread and pwrite are called until `total` bytes are done.
template <class Transfer>
TransferResult repeat_until_done(std::uint64_t total, Transfer transfer) {
  TransferResult result;
  while (result.bytes < total) {
    const ssize_t moved = transfer(result.bytes, next_transfer(total - result.bytes));
    if (moved < 0) {
      if (errno == EINTR) continue;
      result.error = errno;
      return result;
    }
    if (moved == 0) return result;
    result.bytes += static_cast<std::uint64_t>(moved);
  }
  return result;
}

}  // namespace

void FileDescriptor::close() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

TransferResult read_at(int descriptor, std::uint64_t offset, std::span<std::byte> out) {
  return repeat_until_done(out.size(), [&](std::uint64_t done, std::size_t bytes) {
    return ::pread(descriptor, out.data() + done, bytes, static_cast<off_t>(offset + done));
  });
}

TransferResult write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  TransferResult result =
      repeat_until_done(bytes.size(), [&](std::uint64_t done, std::size_t count) {
        return ::pwrite(descriptor, bytes.data() + done, count, static_cast<off_t>(offset + done));
      });
  if (result.error == 0 && result.bytes < bytes.size()) result.error = ENOSPC;
  return result;
}

/// A host that caches a page of NFS writes all of it back, with what it takes for the bytes of
/// others, unless it writes synchronously.
int flags_to_share_pages(const std::string& path) {
#ifdef __linux__
  struct statfs status {};
  if (::statfs(path.c_str(), &status) == 0 && status.f_type == NFS_SUPER_MAGIC) return O_DSYNC;
#else
  static_cast<void>(path);
#endif
  return 0;
}

std::string describe_errno(int error) {
  if (error == ENOENT) return "no such file";
  std::string text = std::generic_category().message(error);
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string file_name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

FileVersion version_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t ns_per_second = 1'000'000'000;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * ns_per_second + status.st_mtim.tv_nsec};
}

}  // namespace warpfold::io
