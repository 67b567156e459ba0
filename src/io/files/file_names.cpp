#include "io/files/file_names.hpp"

#include <glob.h>

#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {

std::vector<std::string> files_called(const std::string& name) {
  const bool may_be_pattern = name.find_first_of("*?[") != std::string::npos;
  if (!may_be_pattern || version_of(name) != FileVersion{}) return {name};
  glob_t found{};
  const int status = ::glob(name.c_str(), 0, nullptr, &found);
  std::vector<std::string> files;
  if (status == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (files.empty())
    throw Error("no file matches '" + name + "'", "", "Name files, or a pattern of them.");
  return files;
}

}  // namespace warpfold::io
