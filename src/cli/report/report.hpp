#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report/json_writer.hpp"
#include "cli/report/text.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/run_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::cli {

/// What a command has to tell, in every form it may be asked for.
struct Report {
  std::string text;  ///< for a reader; lines
  Json json;
  Table csv;
  std::string note;  ///< one line for standard error, or empty
};

/// The first members of every report's JSON, up to the build.
Json json_head(const std::string& command);

/// json_head() with the run's ranks, hosts, devices and backend, and the file that it read.
Json json_head(const std::string& command, const RunReport& run, const std::string& file);

/// Adds what a dataset is.
void add_shape(Json& document, const std::vector<std::uint64_t>& shape, ElementFormat format);

/// json_head() of a run on one dataset.
Json json_head(const std::string& command, const RunReport& run, const std::string& file,
               const std::string& dataset, const std::vector<std::uint64_t>& shape,
               ElementFormat format);

/// Adds what a view asks for, and the type of its unpacked values.
void describe_view(Json& document, const ViewOptions& options, ElementType stored,
                   ElementType values);

/// Each stage's threads, seconds, bytes and GB/s, and the bottleneck.
Json timings_json(const RunReport& run);

/// The same as lines; nothing unless `wanted`.
std::string timings_text(const RunReport& run, bool wanted);

/// "4 ranks on 1 host, cuda: 4 x NVIDIA H200".
std::string run_text(const RunReport& run);

/// The note on a backend that was not the first choice, and on a binding that slows the run.
std::string run_note(const RunReport& run);

/// The columns of a run's CSV.
std::vector<std::string> csv_columns();

/// One result of a run.
std::vector<std::string> csv_row(std::string_view command, const std::string& file,
                                 const std::string& dataset, ElementType type, const RunReport& run,
                                 std::string_view statistic, const Value& value);

/// A dataset that a run skipped, and why.
std::vector<std::string> skipped_row(std::string_view command, const std::string& file,
                                     const std::string& dataset, const RunReport& run,
                                     const std::string& reason);

}  // namespace warpfold::cli
