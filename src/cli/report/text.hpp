#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

/// Values and tables as readers see them.
namespace warpfold::cli {

/// Writes the shortest decimal that rounds to `value`; "-0.0", "nan", "inf", "-inf".
std::string to_text(double value);

/// Writes integers in full; `none` for no value.
std::string to_text(const Value& value, const std::string& none = "none");

/// Writes a number of bytes: "512 bytes", "1.50 GiB".
std::string bytes_text(std::uint64_t bytes);

/// Writes extents: "1000 x 2000"; "scalar" for no dimensions.
std::string shape_text(const std::vector<std::uint64_t>& shape);

/// Writes extents as a size: "1000 x 2000 elements"; "scalar" for no dimensions.
std::string extent_text(const std::vector<std::uint64_t>& shape);

std::string byte_order_text(ByteOrder order);

/// Names a format: "f32 big-endian"; one byte has no order.
std::string format_text(ElementFormat format);

/// Counts ranks and hosts: "4 ranks on 2 hosts".
std::string ranks_text(int ranks, int hosts);

/// Counts devices by name: "NVIDIA H200", "4 x NVIDIA H200".
std::string devices_text(const std::vector<std::string>& devices);

/// Quotes words as a POSIX shell would have to be given them.
std::string shell_quoted(const std::vector<std::string>& words);

/// Words a message of the library as the command line has it: members of the options, which stand
/// in backquotes, as its own options.
std::string with_flags(std::string message);

/// Cells in rows; the first row names the columns.
using Table = std::vector<std::vector<std::string>>;

/// Writes rows as lines, columns aligned by spaces.
std::string aligned_text(const Table& table);

/// Calls a function with each of some rows.
using RowVisits = std::function<void(const std::function<void(const Table::value_type&)>& visit)>;

/// Writes rows as aligned_text() does that `visit_rows` makes, twice, and nobody has to keep.
std::string aligned_text_of(const RowVisits& visit_rows);

/// Writes rows as RFC 4180 has them, with plain line feeds.
std::string csv_text(const Table& table);

}  // namespace warpfold::cli
