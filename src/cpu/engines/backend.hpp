#pragma once

#include <memory>
#include <string>

#include "core/engine/backend.hpp"

namespace warpfold::cpu {

/// Threads this process may use: the cores of its CPU set (hardware threads sharing a core count
/// once).
int available_cores();

/// Cores that the host lets the job use, whichever of them this process is bound to.
int host_cores();

/// The CPUs this process may run on, as a list in text: equal for processes that share them.
std::string cpu_set();

/// The instruction set the running machine's kernels use: "AVX-512", "AVX2", "baseline".
std::string instruction_set();

/// The host backend, `threads` threads of its own (the caller's among them). Throws Error.
std::unique_ptr<Backend> make_backend(int threads);

}  // namespace warpfold::cpu
