#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// A host backend whose kernels are of a given instruction set.
std::unique_ptr<Backend> make_backend(int threads, const Kernels& kernels);

}  // namespace warpfold::cpu
