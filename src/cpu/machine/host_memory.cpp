#include "cpu/machine/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "cpu/machine/machine.hpp"

namespace warpfold::cpu {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// Returns the number in a file; no limit where it is not there, or says "max".
std::uint64_t limit_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::uint64_t limit = 0;
  return stream >> limit ? limit : unlimited;
}

/// Returns the least limit of a control group and those that it is in.
std::uint64_t limit_of_group(const std::filesystem::path& hierarchy, std::filesystem::path group,
                             const char* file) {
  std::uint64_t limit = limit_in(hierarchy / file);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path())
    limit = std::min(limit, limit_in(hierarchy / group / file));
  return limit;
}

}  // namespace

std::uint64_t usable_memory(const std::filesystem::path& root) {
  std::uint64_t memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  // A line of this file is "hierarchy:controllers:group"; version 2 names no controllers.
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers(",");
    controllers.append(line, first + 1, second - first - 1).append(",");
    const std::string group = line.substr(second + 1);
    if (controllers == ",,")
      memory = std::min(memory, limit_of_group(groups, group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      memory = std::min(memory, limit_of_group(groups / "memory", group, "memory.limit_in_bytes"));
  }
  return memory;
}

std::uint64_t memory_of_threads(std::uint64_t divisor, int threads) {
  const auto cores = static_cast<std::uint64_t>(std::max(host_cores(), threads));
  return usable_memory() / divisor / cores * static_cast<std::uint64_t>(threads);
}

}  // namespace warpfold::cpu
