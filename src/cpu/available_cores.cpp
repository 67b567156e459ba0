#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "cpu/backend.hpp"

namespace warpfold::cpu {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Topology this_machine() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owner(topology);
  if (hwloc_topology_load(topology) != 0) return nullptr;
  return owner;
}

/// The hardware threads this process is bound to, or all that it is allowed.
Bitmap usable_threads(hwloc_topology_t topology) {
  Bitmap set(hwloc_bitmap_alloc());
  if (set && hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      !hwloc_bitmap_iszero(set.get()))
    return set;
  return Bitmap(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
}

int cores_that_meet(hwloc_topology_t topology, hwloc_const_bitmap_t set) {
  int cores = 0;
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, nullptr);
       core != nullptr; core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) {
    if (hwloc_bitmap_intersects(core->cpuset, set)) ++cores;
  }
  return cores > 0 ? cores : hwloc_bitmap_weight(set);
}

}  // namespace

int available_cores() {
  const auto otherwise = static_cast<int>(std::thread::hardware_concurrency());
  const Topology topology = this_machine();
  const Bitmap set = topology ? usable_threads(topology.get()) : nullptr;
  return std::max(1, set ? cores_that_meet(topology.get(), set.get()) : otherwise);
}

}  // namespace warpfold::cpu
