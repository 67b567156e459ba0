#include "io/files/file_version.hpp"

namespace warpfold::io {

FileVersion version_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t ns_per_second = 1'000'000'000;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * ns_per_second + status.st_mtim.tv_nsec};
}

}  // namespace warpfold::io
