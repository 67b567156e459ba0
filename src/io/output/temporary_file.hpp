#pragma once

#include <memory>
#include <string>

#include "io/files/posix_file.hpp"

namespace warpfold::io {

struct NotedPath;
struct Forget {
  void operator()(NotedPath* noted) const noexcept;
};

/// A new, empty file beside an output, under a name that nobody can guess: ".NAME.warpfold-<16 hex
/// digits>.tmp". As long as `lock` is open the file is in use.
struct TemporaryFile {
  std::string path;
  FileDescriptor lock;
  std::unique_ptr<NotedPath, Forget> noted = {};  ///< for remove_noted_temporaries()
};

/// Removes the temporary files whose objects live, for a process that a signal is about to end. May
/// be called by the signal's handler.
void remove_noted_temporaries() noexcept;

/// Throws an Error beginning with `problem`.
TemporaryFile create_temporary_beside(const std::string& path, const std::string& problem);

/// Removes the temporary files of `path` that processes left behind that were killed. Leaves those
/// in use, links, other users' files, and all on a file system that can't lock files.
void remove_stale_temporaries(const std::string& path);

}  // namespace warpfold::io
