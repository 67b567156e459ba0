#include "io/files/file_cache.hpp"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "io/files/posix_file.hpp"

namespace warpfold::io {
namespace {

constexpr int reads_a_way = 8;

/// Direct reads must be this much faster, as reads through the cache make the next run faster.
constexpr double worthwhile_gain = 1.1;

}  // namespace

bool CacheTrial::next_goes_past() {
  const Verdict verdict = verdict_;
  if (verdict == Verdict::open) return turn_++ % 2 == 1;
  return verdict == Verdict::past;
}

void CacheTrial::record(bool past, std::uint64_t bytes, double seconds) {
  if (verdict_ != Verdict::open) return;
  const std::lock_guard lock(mutex_);
  Way& way = past ? past_ : through_;
  ++way.reads;
  way.bytes += bytes;
  way.seconds += seconds;
  if (std::min(past_.reads, through_.reads) < reads_a_way) return;
  verdict_ = past_.rate() > worthwhile_gain * through_.rate() ? Verdict::past : Verdict::through;
}

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
