#include "cpu/machine/machine.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <thread>

#ifdef __linux__
#include <hwloc/linux.h>
#endif

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

Topology discovered() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owner(topology);
  if (hwloc_topology_load(topology) != 0) return nullptr;
  return owner;
}

/// Asks hwloc once; null where it fails.
hwloc_topology_t this_machine() {
  static const Topology topology = discovered();
  return topology.get();
}

/// Returns the hardware threads this process is bound to, or all that it is allowed.
Bitmap usable_threads(hwloc_topology_t machine) {
  Bitmap set(hwloc_bitmap_alloc());
  if (set && hwloc_get_cpubind(machine, set.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
      !hwloc_bitmap_iszero(set.get()))
    return set;
  return Bitmap(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(machine)));
}

int cores_that_meet(hwloc_topology_t machine, hwloc_const_bitmap_t set) {
  int cores = 0;
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, nullptr);
       core != nullptr; core = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_CORE, core)) {
    if (hwloc_bitmap_intersects(core->cpuset, set)) ++cores;
  }
  return cores > 0 ? cores : hwloc_bitmap_weight(set);
}

std::vector<int> numbers_in(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  for (int next = hwloc_bitmap_next(set, -1); next != -1; next = hwloc_bitmap_next(set, next))
    numbers.push_back(next);
  return numbers;
}

bool bind_this_thread(const std::vector<int>& hardware_threads) {
  const Bitmap set(hwloc_bitmap_alloc());
  for (const int each : hardware_threads) hwloc_bitmap_set(set.get(), static_cast<unsigned>(each));
  return hwloc_set_cpubind(this_machine(), set.get(), HWLOC_CPUBIND_THREAD) == 0;
}

bool has_several_nodes(hwloc_topology_t machine) {
  return machine != nullptr && hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE) > 1;
}

/// Reads what the system says of one device: the whole discovery of PCI devices takes longer than a
/// small run.
Bitmap local_threads(std::string pci_bus_id) {
  Bitmap set(hwloc_bitmap_alloc());
#ifdef __linux__
  std::ranges::transform(pci_bus_id, pci_bus_id.begin(),
                         [](unsigned char digit) { return std::tolower(digit); });
  const std::string path = "/sys/bus/pci/devices/" + pci_bus_id + "/local_cpus";
  if (hwloc_linux_read_path_as_cpumask(path.c_str(), set.get()) != 0) hwloc_bitmap_zero(set.get());
#endif
  return set;
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

std::string cpu_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string text;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return text;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) text += std::to_string(cpu) + ",";
  return text;
}

std::vector<int> hardware_threads_near(const std::string& pci_bus_id) {
  const hwloc_topology_t machine = this_machine();
  if (!has_several_nodes(machine)) return {};
  const Bitmap near = local_threads(pci_bus_id);
  hwloc_bitmap_and(near.get(), near.get(), usable_threads(machine).get());
  return numbers_in(near.get());
}

bool is_far_from(const std::string& pci_bus_id) {
  const hwloc_topology_t machine = this_machine();
  if (!has_several_nodes(machine)) return false;
  const Bitmap near = local_threads(pci_bus_id);
  return !hwloc_bitmap_iszero(near.get()) &&
         !hwloc_bitmap_intersects(near.get(), usable_threads(machine).get());
}

ThreadBinding::ThreadBinding(const std::vector<int>& hardware_threads, int wanted) {
  const hwloc_topology_t machine = this_machine();
  if (machine == nullptr || hardware_threads.size() < static_cast<std::size_t>(wanted)) return;
  const Bitmap before(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(machine, before.get(), HWLOC_CPUBIND_THREAD) != 0) return;
  if (bind_this_thread(hardware_threads)) before_ = numbers_in(before.get());
}

ThreadBinding::~ThreadBinding() {
  if (!before_.empty()) bind_this_thread(before_);
}

}  // namespace warpfold::cpu
