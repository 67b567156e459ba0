#include <algorithm>
#include <thread>

#include "cpu/engines/backend.hpp"
#include "cpu/machine/machine.hpp"

namespace warpfold::cpu {
namespace {

int cores_that_meet(hwloc_topology_t machine, hwloc_const_bitmap_t set) {
  int cores = 0;
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, nullptr);
       core != nullptr; core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, core)) {
    if (hwloc_bitmap_intersects(core->cpuset, set)) ++cores;
  }
  return cores > 0 ? cores : hwloc_bitmap_weight(set);
}

}  // namespace

int available_cores() {
  const auto otherwise = static_cast<int>(std::thread::hardware_concurrency());
  const hwloc_topology_t machine = this_machine();
  const Bitmap set = machine ? usable_threads(machine) : nullptr;
  return std::max(1, set ? cores_that_meet(machine, set.get()) : otherwise);
}

int host_cores() {
  const hwloc_topology_t machine = this_machine();
  if (machine == nullptr) return available_cores();
  return std::max(1, cores_that_meet(machine, hwloc_topology_get_allowed_cpuset(machine)));
}

}  // namespace warpfold::cpu
