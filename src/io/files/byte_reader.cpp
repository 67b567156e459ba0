#include "io/files/byte_reader.hpp"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "core/layout/partition.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t page = 4096;

/// Amount up to which a trial costs more than it could gain.
constexpr std::uint64_t few_bytes = std::uint64_t{64} << 20;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

ByteReader::ByteReader(std::string path, std::string problem)
    : path_(std::move(path)),
      problem_(std::move(problem)),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_) throw Error(problem_, describe_errno(errno), "");
}

void ByteReader::choose_cache(FileCache cache, std::uint64_t first, std::uint64_t bytes) {
  uncached_ = FileDescriptor();
  trial_.reset();
  const bool surely_through = cache == FileCache::through ||
                              (cache == FileCache::automatic &&
                               (bytes <= few_bytes || is_mostly_cached(path_, first, bytes)));
  if (surely_through) return;
#ifdef O_DIRECT
  uncached_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
#endif
  if (cache == FileCache::automatic) trial_.emplace();
}

void ByteReader::read(std::uint64_t offset, std::span<std::byte> out) const {
  const TransferResult result = read_at(file_.get(), offset, out);
  if (result.bytes == out.size()) return;
  const std::string place = "byte " + std::to_string(offset + result.bytes);
  if (result.error != 0) throw Error(problem_, describe_errno(result.error) + " at " + place, "");
  throw Error(problem_, "the file ends at " + place + ", before the dataset does", copy_again);
}

bool ByteReader::goes_past() {
  if (!uncached_ || refused_) return false;
  return !trial_ || trial_->next_goes_past();
}

std::span<std::byte> ByteReader::fetch(std::uint64_t offset, std::uint64_t bytes,
                                       std::span<std::byte> buffer) {
  const bool past = goes_past();
  const auto start = std::chrono::steady_clock::now();
  const bool fetched = past && fetch_past(offset, bytes, buffer);
  const std::span<std::byte> there = buffer.subspan(fetched ? offset % page : 0, bytes);
  if (!fetched) read(offset, there);
  if (trial_ && past == fetched) trial_->record(past, bytes, seconds_since(start));
  return there;
}

/// Reads whole pages; false where that did not bring all bytes, for whatever reason.
bool ByteReader::fetch_past(std::uint64_t offset, std::uint64_t bytes,
                            std::span<std::byte> buffer) {
  const std::uint64_t skipped = offset % page;
  const std::uint64_t whole_pages = round_up(skipped + bytes, page);
  const TransferResult result =
      read_at(uncached_.get(), offset - skipped, buffer.first(whole_pages));
  if (result.error == EINVAL && result.bytes == 0) refused_ = true;
  return result.bytes >= skipped + bytes;
}

}  // namespace warpfold::io
