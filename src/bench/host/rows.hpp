#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpfold::bench::host {

/// One row of a table: what is run, and how long it took each time.
struct Row {
  std::string label;
  std::function<void()> run;
  std::vector<double> seconds = {};  ///< ascending, once measured
};

/// Runs the rows in turn, so that what else the machine does befalls all of them alike.
void measure(std::vector<Row>& rows, int runs);

/// The heading of tables whose first row of each group is called `first`.
void print_heading(const char* first);

/// Measured rows that each go through `bytes`: GB/s, and the rate as a share of the first row's.
void print(const std::vector<Row>& rows, std::uint64_t bytes);

}  // namespace warpfold::bench::host
