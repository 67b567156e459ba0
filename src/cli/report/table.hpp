#pragma once

#include <string>
#include <vector>

namespace warpfold::cli {

/// Cells in rows; the first row names the columns.
using Table = std::vector<std::vector<std::string>>;

/// Rows as lines, columns aligned by spaces.
std::string aligned_text(const Table& table);

/// Rows as RFC 4180 has them, with plain line feeds.
std::string csv_text(const Table& table);

}  // namespace warpfold::cli
