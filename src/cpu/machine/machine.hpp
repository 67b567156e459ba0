#pragma once

#include <string>
#include <vector>

/// The cores of this machine, as hwloc finds them: how many there are, which of them are near a
/// device, and the binding of threads to them.
namespace warpfold::cpu {

/// Counts the cores of this process's CPU set, 1 at least; hardware threads that share a core count
/// once.
int available_cores();

/// Counts the cores that the host lets the job use, whichever of them this process is bound to.
int host_cores();

/// Lists the CPUs this process may run on as text: equal for processes that share them.
std::string cpu_set();

/// Returns those of the hardware threads this process may use that share a NUMA node with a PCI
/// device ("0000:3b:00.0"), by number; none where the machine has one node or doesn't tell.
std::vector<int> hardware_threads_near(const std::string& pci_bus_id);

/// Returns whether this process may use none of the hardware threads that share a NUMA node with a
/// PCI device; false where the machine has one node or doesn't tell.
bool is_far_from(const std::string& pci_bus_id);

/// While it lives, keeps the thread that made it on some hardware threads, and with it the threads
/// that it starts and the memory that any of these touches first. Does nothing where those are
/// fewer than `wanted`.
class ThreadBinding {
 public:
  ThreadBinding(const std::vector<int>& hardware_threads, int wanted);
  ~ThreadBinding();
  ThreadBinding(const ThreadBinding&) = delete;
  ThreadBinding& operator=(const ThreadBinding&) = delete;

 private:
  std::vector<int> before_;  ///< earlier binding of the thread; empty if unchanged
};

}  // namespace warpfold::cpu
