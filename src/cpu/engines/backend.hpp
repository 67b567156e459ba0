#pragma once

#include <memory>
#include <string>

#include "core/engine/backend.hpp"

namespace warpfold::cpu {

/// Names the instruction set the running machine's kernels use: "AVX-512", "AVX2", "baseline".
std::string instruction_set();

/// Makes the host backend, `threads` threads of its own (the caller's among them). Throws Error.
std::unique_ptr<Backend> make_backend(int threads);

}  // namespace warpfold::cpu
