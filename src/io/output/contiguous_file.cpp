#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/files/memory_file.hpp"
#include "io/files/posix_file.hpp"
#include "io/output/output.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

[[noreturn]] void throw_write_failure(const std::string& problem, int error,
                                      std::uint64_t bytes_left) {
  if (error != ENOSPC && error != EDQUOT) throw Error(problem, describe_errno(error), "");
  const std::string what = error == ENOSPC ? "not enough space" : "the disk quota is used up";
  throw Error(problem,
              what + ", " + std::to_string(bytes_left) + " bytes of this write are not written",
              "Free some space, or name an output elsewhere.");
}

}  // namespace

ContiguousWriter::ContiguousWriter(Sink sink) : data_offset_(0), sink_(std::move(sink)) {}

ContiguousWriter::ContiguousWriter(const std::string& path, std::uint64_t data_offset,
                                   const std::string& output, SharedPages shared)
    : problem_("cannot write '" + (output.empty() ? path : output) + "'"),
      data_offset_(data_offset),
      descriptor_(::open(
          path.c_str(),
          O_RDWR | O_CLOEXEC | (shared == SharedPages::some ? flags_to_share_pages(path) : 0))) {
  if (!descriptor_) throw Error(problem_, describe_errno(errno), "");
  memory_ = std::make_unique<MemoryFile>(descriptor_.get());
}

ContiguousWriter::~ContiguousWriter() = default;

ContiguousWriter::ContiguousWriter(ContiguousWriter&& other) noexcept = default;

void ContiguousWriter::write(std::uint64_t byte_offset, std::span<const std::byte> bytes) {
  if (sink_) return sink_(data_offset_ + byte_offset, bytes);
  const std::unique_lock turn = memory_->try_turn();
  if (!turn && memory_->copy(data_offset_ + byte_offset, bytes)) return;
  const TransferResult result = write_at(descriptor_.get(), data_offset_ + byte_offset, bytes);
  if (result.error != 0) throw_write_failure(problem_, result.error, bytes.size() - result.bytes);
}

void ContiguousWriter::sync() {
  if (::fsync(descriptor_.get()) != 0) throw Error(problem_, describe_errno(errno), "");
}

ContiguousReader::ContiguousReader(const std::string& path, std::uint64_t data_offset,
                                   const std::string& output)
    : problem_("cannot read back '" + (output.empty() ? path : output) + "'"),
      data_offset_(data_offset),
      descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!descriptor_) throw Error(problem_, describe_errno(errno), "");
}

void ContiguousReader::read(std::uint64_t byte_offset, std::span<std::byte> out) const {
  const TransferResult result = read_at(descriptor_.get(), data_offset_ + byte_offset, out);
  if (result.error != 0) throw Error(problem_, describe_errno(result.error), "");
  if (result.bytes < out.size()) throw Error(problem_, "it was cut short", "");
}

}  // namespace warpfold::io
