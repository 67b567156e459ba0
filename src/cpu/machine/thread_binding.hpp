#pragma once

#include <string>
#include <vector>

namespace warpfold::cpu {

/// Those of the hardware threads this process may use that share a NUMA node with a PCI device
/// ("0000:3b:00.0"), by number; none where the machine has one node or doesn't tell.
std::vector<int> hardware_threads_near(const std::string& pci_bus_id);

/// Whether this process may use none of the hardware threads that share a NUMA node with a PCI
/// device; false where the machine has one node or doesn't tell.
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
  std::vector<int> before_;  ///< where the thread was; empty if it was left there
};

}  // namespace warpfold::cpu
