#include "io/files/file_versions.hpp"

#include "warpfold/core/error.hpp"

namespace warpfold::io {

std::function<void()> make_require_unchanged(const std::string& problem, const std::string& file,
                                             const FileVersions& versions) {
  return [=] {
    for (const auto& [path, version] : versions) {
      const FileVersion now = version_of(path);
      if (now == version) continue;
      const std::string changed = path == file ? "the file" : "'" + path + "'";
      if (now == FileVersion{})
        throw Error(problem, changed + " was removed while it was read", "Restore it.");
      const std::string how = now.bytes < version.bytes ? " was truncated" : " changed";
      throw Error(problem, changed + how + " while it was read",
                  "Start again once its writer is done.");
    }
  };
}

}  // namespace warpfold::io
