#include "io/files/file_series.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "core/layout/partition.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t apart = std::uint64_t{1} << 40;

}  // namespace

FileSeries::FileSeries(std::vector<std::string> paths, const std::string& problem)
    : paths_(std::move(paths)), open_files_(most_files_open(), [this](std::size_t file) {
        const auto opened = std::make_shared<OpenedFile>();
        opened->descriptor = FileDescriptor(::open(paths_[file].c_str(), O_RDONLY | O_CLOEXEC));
        if (!opened->descriptor) opened->error = errno;
        return opened;
      }) {
  std::uint64_t end = 0;
  for (const std::string& path : paths_) {
    const FileVersion version = version_of(path);
    if (version == FileVersion{})
      throw Error(problem, "there is no file '" + path + "'", "Restore it.");
    begins_.push_back(end);
    end = round_up(end + version.bytes, apart) + apart;
  }
}

FileSeries::Place FileSeries::place_of(std::uint64_t address) const {
  const auto file = std::ranges::upper_bound(begins_, address) - begins_.begin() - 1;
  return {static_cast<std::size_t>(file), address - begins_[static_cast<std::size_t>(file)]};
}

TransferResult FileSeries::read(std::uint64_t address, std::span<std::byte> out) {
  const Place place = place_of(address);
  const auto file = open_files_.get(place.file);
  if (file->error != 0) return {0, file->error};
  return read_at(file->descriptor.get(), place.offset, out);
}

}  // namespace warpfold::io
