#pragma once

#include <string_view>

namespace warpfold {

/// Returns "MAJOR.MINOR.PATCH" of this library.
std::string_view version();

}  // namespace warpfold
