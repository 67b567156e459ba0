#pragma once

#include <string>
#include <vector>

#include "cli/report/json_writer.hpp"
#include "cli/report/report.hpp"
#include "warpfold/reduce.hpp"

/// Outputs of reductions that no file has, in the forms of reports. `names` are what they are
/// requested as.
namespace warpfold::cli {

/// Writes a line for each place of the outputs, with its coordinates; for each output where they
/// are scalars.
std::string printed_text(const ReduceResult& result, const std::vector<std::string>& names);

/// Makes `results`: the coordinates, and the numbers in arrays of the outputs' shape.
Json printed_json(const ReduceResult& result, const std::vector<std::string>& names);

/// Makes a row for each number, with its coordinates.
std::vector<ResultRow> printed_rows(const ReduceResult& result,
                                    const std::vector<std::string>& names);

}  // namespace warpfold::cli
