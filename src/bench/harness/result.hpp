#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/results/accumulator.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::bench {

/// Times of repeated runs of the same thing, in seconds.
struct Spread {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
};

/// Computes the spread of one sample or more; the median of an even number is the mean of the
/// middle two.
Spread spread_of(std::vector<double> samples);

/// The clock that took a time.
enum class Clock : std::uint8_t {
  device,  ///< events around what was put into a stream
  host     ///< the host's clock, from the call to the value
};

/// Outcome of comparing a result with the right one; the greater, the worse.
enum class Check : std::uint8_t {
  none,   ///< nothing to check, or measured by its error instead
  right,  ///< equal to the exact answer, bit by bit
  wrong
};

/// One candidate at one size; of several ranks, the slowest one's times and the sum of their rates.
struct Row {
  std::string group = {};      ///< request and elements: "scan u32 uniform"
  std::string operation = {};  ///< "sum", "inclusive"
  std::string kernel = {};     ///< who did it: "warpfold", "CUB", "copy"
  std::string title = {};      ///< description, if the kernel's name is not enough
  Clock clock = Clock::device;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;          ///< the size, of the larger array
  std::uint64_t useful_bytes = 0;   ///< that had to be read and written once
  std::uint64_t element_bytes = 0;  ///< size of a file's elements without filters, if it has some
  bool ceiling = false;             ///< others can't be faster than the slowest such row
  std::optional<Spread> seconds = {};
  std::optional<double> gigabytes_per_second = {};
  std::optional<double> of_copy = {};     ///< rate, over that of a device-to-device copy
  std::optional<double> of_cub = {};      ///< rate, over that of CUB
  std::optional<double> of_ceiling = {};  ///< rate, over that of the slowest ceiling
  std::optional<double> of_plain = {};    ///< rate, over that of elements as they are stored
  Check check = Check::none;
  std::optional<double> error_ulps = {};  ///< distance from the exact answer
  std::string note = {};                  ///< why it was not run
};

/// Sets the rates of rows with times, as `ranks` ranks moved a row's useful bytes each.
void set_rates(std::vector<Row>& rows, int ranks = 1);

/// Sets rates relative to the copy and to CUB's row of the same operation (of `statistics`, CUB's
/// sum) among the rows, which are of one size.
void compare_with_peers(std::vector<Row>& rows);

/// Sets the rates of `views`, by their kernels, relative to those of the same operation by `plain`.
void compare_with_plain(std::vector<Row>& rows, const std::string& plain,
                        const std::vector<std::string>& views);

/// Sets the rates relative to the slowest ceiling among the rows.
void compare_with_ceiling(std::vector<Row>& rows);

/// Judges a sum, an element of type `output` whose bits are the lowest of `bits`, by the exact
/// reduction of the elements (of type `input`): integers have to be equal modulo their width, of
/// floats the error is set, in units in the last place of `output`.
void judge_sum(Row& row, std::uint64_t bits, ElementType input, ElementType output,
               const Accumulator& exact);

/// The GPU of rank 0 and what drives it.
struct DeviceFacts {
  std::string compute_capability;  ///< "9.0"
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::string driver;   ///< the CUDA version it serves, "13.0"
  std::string runtime;  ///< the CUDA version of this build
  std::string cub;      ///< "CUB 3.0.1", or why there is none
};

/// Results of a benchmark, on rank 0 alone except for `wrong`.
struct Result {
  RunReport run;
  DeviceFacts device;  ///< empty without a GPU
  std::vector<Row> rows;
  std::uint64_t wrong = 0;  ///< rows that failed their check on any rank, without those of CUB

  void add(std::vector<Row> more);
};

}  // namespace warpfold::bench
