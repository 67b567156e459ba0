#include "cpu/machine/thread_binding.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "cpu/machine/machine.hpp"

#ifdef __linux__
#include <hwloc/linux.h>
#endif

namespace warpfold::cpu {
namespace {

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

/// The whole discovery of PCI devices takes longer than a small run.
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
