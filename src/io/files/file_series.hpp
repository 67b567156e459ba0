#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/files/kept_open.hpp"
#include "io/files/posix_file.hpp"

namespace warpfold::io {

/// Files whose bytes have addresses one behind another, too far apart for a read to go from one
/// file to the next. Few are open at a time. Threads may read at once.
class FileSeries {
 public:
  /// Throws an Error beginning with `problem` for a file that is not there.
  FileSeries(std::vector<std::string> paths, const std::string& problem);

  struct Place {
    std::size_t file = 0;
    std::uint64_t offset = 0;
  };

  Place place_of(std::uint64_t address) const;
  std::uint64_t address_of(Place place) const { return begins_[place.file] + place.offset; }

  /// Reads as read_at() does; the error is that of opening the file, too.
  TransferResult read(std::uint64_t address, std::span<std::byte> out);

 private:
  struct OpenedFile {
    FileDescriptor descriptor;
    int error = 0;
  };

  std::vector<std::string> paths_;
  std::vector<std::uint64_t> begins_;
  KeptOpen<OpenedFile> open_files_;
};

}  // namespace warpfold::io
