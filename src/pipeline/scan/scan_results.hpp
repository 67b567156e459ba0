#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/scan/scan_spec.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::pipeline {

/// Says which prefix is beyond the output type.
[[noreturn]] void throw_overflow(std::uint64_t index, const ScanSpec& spec);

/// Throws on every rank where any has an index to pass, in place of no_index: the least.
/// Collective.
void throw_overflow_on_all_ranks(std::uint64_t mine, const ScanSpec& spec,
                                 const mpi::Communicator& communicator);

/// value_bits() of an element in memory.
std::uint64_t bits_of(std::span<const std::byte> element, ElementType type);

}  // namespace warpfold::pipeline
