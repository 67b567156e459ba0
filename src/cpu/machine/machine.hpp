#pragma once

#include <hwloc.h>

#include <memory>

namespace warpfold::cpu {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

/// What hwloc finds of this machine's cores and memory, asked once; null where it fails.
hwloc_topology_t this_machine();

/// The hardware threads this process is bound to, or all that it is allowed.
Bitmap usable_threads(hwloc_topology_t machine);

}  // namespace warpfold::cpu
