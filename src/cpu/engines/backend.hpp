#pragma once

#include <memory>
#include <string>

#include "core/engine/backend.hpp"

namespace warpfold::cpu {

struct Kernels;

/// Names the instruction set the running machine's kernels use: "AVX-512", "AVX2", "baseline".
std::string instruction_set();

/// Makes the host backend, with `threads` threads of its own (the caller's among them). Throws
/// Error.
std::unique_ptr<Backend> make_backend(int threads);

/// Makes one whose kernels are of a given instruction set.
std::unique_ptr<Backend> make_backend(int threads, const Kernels& kernels);

}  // namespace warpfold::cpu
