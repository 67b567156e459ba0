#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/spread.hpp"

namespace warpfold::bench {

/// What a time was taken by.
enum class Clock : std::uint8_t {
  device,  ///< events around what was put into a stream
  host     ///< the host's clock, from the call to the value
};

enum class Check : std::uint8_t {
  none,   ///< nothing to check, or measured by its error instead
  right,  ///< equal to the exact answer, bit by bit
  wrong
};

/// One candidate at one size; of several ranks, the slowest one's times and the sum of their rates.
struct Row {
  std::string group;      ///< what was asked for, of which elements: "scan u32 uniform"
  std::string operation;  ///< "sum", "inclusive"
  std::string kernel;     ///< who did it: "warpfold", "CUB", "copy"
  std::string title;      ///< what it is, where the kernel's name does not tell
  Clock clock = Clock::device;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;          ///< the size, of the larger array
  std::uint64_t useful_bytes = 0;   ///< that had to be read and written once
  std::uint64_t element_bytes = 0;  ///< of a file: without its filters, where it has some
  bool ceiling = false;             ///< others can't be faster than the slowest such row
  std::optional<Spread> seconds;
  std::optional<double> gigabytes_per_second;
  std::optional<double> of_copy;     ///< rate, over that of a device-to-device copy
  std::optional<double> of_cub;      ///< rate, over that of CUB
  std::optional<double> of_ceiling;  ///< rate, over that of the slowest ceiling
  Check check = Check::none;
  std::optional<double> error_ulps;  ///< distance from the exact answer
  std::string note;                  ///< why it was not run
};

/// The rows of candidates of any kind.
template <class Candidate>
std::vector<Row> rows_of(std::vector<Candidate>&& candidates) {
  std::vector<Row> rows;
  for (Candidate& candidate : candidates) rows.push_back(std::move(candidate.row));
  return rows;
}

}  // namespace warpfold::bench
