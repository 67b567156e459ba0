#pragma once

#include <cstdint>
#include <exception>

#include "core/engine/array_engine.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/array_options.hpp"
#include "warpfold/core/array.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::pipeline {

/// Does what DeviceCollectives::reduce() and HostCollectives::reduce() do, with an engine for this
/// rank's memory.
Summary reduce_array(const Array& array, const ArrayReduceOptions& options, StreamHandle stream,
                     ArrayEngine& engine, const mpi::Communicator& communicator);

/// Does what their scan() does.
void scan_array(const Array& input, void* output, const ArrayScanOptions& options,
                StreamHandle stream, ArrayEngine& engine, const mpi::Communicator& communicator);

/// Throws a usage Error unless `count` elements of `element_bytes` may be at `data`. `name` is what
/// the message calls them.
void check_array(const char* name, const void* data, std::uint64_t count,
                 std::uint64_t element_bytes, const ArrayEngine& engine);

/// Throws, on every rank, the Error of the lowest rank that passes one (`failure` not null), and an
/// Error where ranks differ in `form`, the word that stands for what they call and with which
/// options: even for reductions, odd for all else. Collective; what each call does first.
void agree(const std::exception_ptr& failure, std::uint64_t form,
           const mpi::Communicator& communicator);

/// Throws `mistake` on every rank, whatever others call.
[[noreturn]] void refuse(const Error& mistake, const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
