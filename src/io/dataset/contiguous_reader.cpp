#include <fcntl.h>

#include <cerrno>

#include "io/output/output.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {

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
