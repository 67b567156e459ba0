#include "io/files/shared_writes.hpp"

#include <fcntl.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

namespace warpfold::io {

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

}  // namespace warpfold::io
