#pragma once

#include <cstdint>
#include <exception>

#include "cuda/arrays/array_engine.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// What `body` throws, or null.
template <class Body>
std::exception_ptr capture_exception(Body&& body) {
  try {
    body();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Throws a usage Error unless `count` elements of `element_bytes` may be at `data`. `name` is what
/// the message calls them.
void check_device_array(const char* name, const void* data, std::uint64_t count,
                        std::uint64_t element_bytes, const cuda::ArrayEngine& engine);

/// Throws, on every rank, the Error of the lowest rank that passes one (`failure` not null), and an
/// Error where ranks differ in `form`, the word that stands for what they call and with which
/// options. Collective.
void agree(const std::exception_ptr& failure, std::uint64_t form,
           const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
