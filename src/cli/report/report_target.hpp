#pragma once

#include <string>
#include <string_view>

#include "io/files/posix_file.hpp"

namespace warpfold::cli {

/// Where a report may go but to a file.
inline constexpr std::string_view standard_output = "-";

/// The file that `target` names, at the end of symbolic links: the user's own and root's, as
/// whoever may write to a folder could have its links point anywhere. Throws Error for another
/// user's.
std::string report_path(const std::string& target);

bool is_device_or_pipe(const std::string& path);

std::string cannot_write_report(const std::string& target);

/// Throws Error with the reason that errno gives.
[[noreturn]] void throw_unwritable_report(const std::string& target);

/// Opens a device, a pipe or, with `more_flags`, a file to write to. Throws Error.
io::FileDescriptor open_report(const std::string& path, int more_flags);

}  // namespace warpfold::cli
