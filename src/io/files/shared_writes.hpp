#pragma once

#include <string>

namespace warpfold::io {

/// Returns the flags of open() with which processes of several hosts may write different bytes of
/// one page of a file at once.
int flags_to_share_pages(const std::string& path);

}  // namespace warpfold::io
