#include "warpfold/core/version.hpp"

namespace warpfold {

std::string_view version() { return WARPFOLD_VERSION; }

}  // namespace warpfold
