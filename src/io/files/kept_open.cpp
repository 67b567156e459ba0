#include "io/files/kept_open.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace warpfold::io {

std::size_t most_files_open() {
  constexpr rlim_t most = 256;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  return std::clamp<rlim_t>(limit.rlim_cur / 4, 1, most);
}

}  // namespace warpfold::io
