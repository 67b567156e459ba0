#include <sched.h>

#include "cpu/engines/backend.hpp"

namespace warpfold::cpu {

std::string cpu_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string text;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return text;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) text += std::to_string(cpu) + ",";
  return text;
}

}  // namespace warpfold::cpu
