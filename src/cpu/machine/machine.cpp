#include "cpu/machine/machine.hpp"

namespace warpfold::cpu {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology discovered() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owner(topology);
  if (hwloc_topology_load(topology) != 0) return nullptr;
  return owner;
}

}  // namespace

hwloc_topology_t this_machine() {
  static const Topology topology = discovered();
  return topology.get();
}

Bitmap usable_threads(hwloc_topology_t machine) {
  Bitmap set(hwloc_bitmap_alloc());
  if (set && hwloc_get_cpubind(machine, set.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      !hwloc_bitmap_iszero(set.get()))
    return set;
  return Bitmap(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(machine)));
}

}  // namespace warpfold::cpu
