#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace warpfold::io {

/// Most bytes handed to one read or write call.
inline constexpr std::uint64_t largest_transfer = std::uint64_t{1} << 30;

/// Owns an open file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }

  int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }

 private:
  void close() noexcept;

  int descriptor_ = -1;
};

/// How far a transfer came: `bytes` done, and the errno that ended it or 0.
struct TransferResult {
  std::uint64_t bytes = 0;
  int error = 0;
};

/// Reads from byte `offset` on until `out` is full, the file ends or an error comes.
TransferResult read_at(int descriptor, std::uint64_t offset, std::span<std::byte> out);

/// Writes all of `bytes` from byte `offset` on unless an error comes.
TransferResult write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes);

/// Returns the flags of open() with which processes of several hosts may write different bytes of
/// one page of a file at once.
int flags_to_share_pages(const std::string& path);

/// Advice of an Error about a file that is shorter than its metadata say.
inline constexpr const char* copy_again =
    "Copy the file again, or check whether its writer was interrupted.";

/// Returns the system's text for an errno value, beginning in lower case.
std::string describe_errno(int error);

/// Returns the folder `path` lies in; "." for a bare name.
std::string folder_of(const std::string& path);

/// Returns the last component of `path`.
std::string file_name_of(const std::string& path);

/// Bytes [address, address + count) of a file.
struct FileBytes {
  std::uint64_t address = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return address + count; }
  bool operator==(const FileBytes&) const = default;
};

/// Identity of a file's contents: changes when a file is written to or another takes its name.
struct FileVersion {
  ::dev_t device = 0;
  ::ino_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileVersion&) const = default;
};

/// All zero where there is no such file.
FileVersion version_of(const std::string& path);

}  // namespace warpfold::io
