#include "pipeline/scan/scan_results.hpp"

#include <cstring>
#include <string>

#include "core/results/accumulator.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

void throw_overflow(std::uint64_t index, const ScanSpec& spec) {
  throw Error("the scan overflows at index " + std::to_string(index),
              "the prefix there is beyond " + std::string(name_of(spec.output)),
              "Use a wider `output_type`, or `overflow` wrap.");
}

void throw_overflow_on_all_ranks(std::uint64_t mine, const ScanSpec& spec,
                                 const mpi::Communicator& communicator) {
  const std::uint64_t first = mpi::minimum({mine}, communicator).front();
  if (first != no_index) throw_overflow(first, spec);
}

std::uint64_t bits_of(std::span<const std::byte> element, ElementType type) {
  return visit_element_type(type, [&](auto value) {
    std::memcpy(&value, element.data(), sizeof(value));
    return value_bits(value);
  });
}

}  // namespace warpfold::pipeline
