#include "io/files/file_residency.hpp"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>

#include "io/files/posix_file.hpp"

namespace warpfold::io {

bool is_mostly_cached(const std::string& path, std::uint64_t first, std::uint64_t bytes) {
#ifdef RWF_NOWAIT
  constexpr std::uint64_t places = 64;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return true;
  // Asking must not make the system read ahead.
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM);
  std::uint64_t missing = 0;
  for (std::uint64_t place = 0; place < places; ++place) {
    std::byte byte{};
    const iovec buffer{&byte, 1};
    const auto offset = static_cast<off_t>(first + bytes / places * place);
    if (::preadv2(file.get(), &buffer, 1, offset, RWF_NOWAIT) < 0 && errno == EAGAIN) ++missing;
  }
  return missing * 4 < places;
#else
  return true;
#endif
}

}  // namespace warpfold::io
