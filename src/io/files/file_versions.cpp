#include "io/files/file_versions.hpp"

#include <fcntl.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "warpfold/core/error.hpp"

namespace warpfold::io {

std::function<void()> make_require_unchanged(const std::string& problem, const std::string& file,
                                             const FileVersions& versions) {
  return [=] {
    for (const auto& [path, version] : versions) {
      const FileVersion now = version_of(path);
      if (now == version) continue;
      const std::string changed = path == file ? "the file" : "'" + path + "'";
      if (now == FileVersion{})
        throw Error(problem, changed + " was removed while it was read", "Restore it.");
      const std::string how = now.bytes < version.bytes ? " was truncated" : " changed";
      throw Error(problem, changed + how + " while it was read",
                  "Start again once its writer is done.");
    }
  };
}

std::uint32_t checksum_of_samples(const std::string& path) {
  constexpr std::uint64_t most_samples = 256;
  std::array<std::byte, 4096> sample;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int error = file ? 0 : errno;
  const std::uint64_t bytes = version_of(path).bytes;
  const std::uint64_t step = std::max<std::uint64_t>(sample.size(), bytes / most_samples);
  std::uint32_t checksum = 0;
  for (std::uint64_t at = 0; at < bytes && error == 0; at += step) {
    const std::uint64_t end = std::min<std::uint64_t>(bytes, at + sample.size());
    const TransferResult read = read_at(file.get(), at, std::span(sample).first(end - at));
    checksum = libdeflate_crc32(checksum, sample.data(), read.bytes);
    error = read.error;
  }
  if (error != 0)
    throw Error("cannot read '" + path + "'", describe_errno(error), "Check its permissions.");
  return checksum;
}

}  // namespace warpfold::io
