#include "cli/run/measuring_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/files/posix_file.hpp"

namespace warpfold::cli {
namespace {

std::string measuring_program() {
  const std::filesystem::path link("/proc/self/exe");
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink(link, failure);
  return (failure ? link : program).parent_path() / "warpfold-bench";
}

}  // namespace

void become_measuring_program(int argc, char** argv) {
  char** const end = argv + argc;
  char** const command =
      std::find_if(std::min(argv + 1, end), end, [](const char* word) { return word[0] != '-'; });
  if (command == end) return;
  const std::string_view name(*command);
  if (name != "bench" && name != "ladder") return;
  std::string program = measuring_program();
  char* const own_name = std::exchange(argv[0], program.data());
  ::execv(argv[0], argv);
  argv[0] = own_name;
}

Error missing_measuring_program(const std::string& command) {
  const std::string program = measuring_program();
  const std::string reason = ::access(program.c_str(), X_OK) == 0
                                 ? " does not start"
                                 : " cannot be run (" + io::describe_errno(errno) + ")";
  return Error("cannot run '" + command + "'", "'" + program + "'" + reason,
               "Install the component 'bench' of warpfold, which is that program.");
}

}  // namespace warpfold::cli
