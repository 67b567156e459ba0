#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/output.hpp"
#include "io/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

std::string cannot_write(const std::string& path) { return "cannot write '" + path + "'"; }

[[noreturn]] void throw_write_failure(const std::string& path, int error,
                                      std::uint64_t bytes_left) {
  if (error != ENOSPC && error != EDQUOT)
    throw Error(cannot_write(path), describe_errno(error), "");
  const std::string what = error == ENOSPC ? "not enough space" : "the disk quota is used up";
  throw Error(cannot_write(path),
              what + ": " + std::to_string(bytes_left) + " bytes of this write are left",
              "Free some space, or name an output elsewhere.");
}

}  // namespace

ContiguousWriter::ContiguousWriter(std::string path, std::uint64_t data_offset)
    : path_(std::move(path)),
      data_offset_(data_offset),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(cannot_write(path_), describe_errno(errno), "");
}

ContiguousWriter::~ContiguousWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ContiguousWriter::ContiguousWriter(ContiguousWriter&& other) noexcept
    : path_(std::move(other.path_)),
      data_offset_(other.data_offset_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void ContiguousWriter::write(std::uint64_t byte_offset, std::span<const std::byte> bytes) {
  const TransferResult result = write_at(descriptor_, data_offset_ + byte_offset, bytes);
  if (result.error != 0) throw_write_failure(path_, result.error, bytes.size() - result.bytes);
}

void ContiguousWriter::sync() {
  if (::fsync(descriptor_) != 0) throw Error(cannot_write(path_), describe_errno(errno), "");
}

}  // namespace warpfold::io
