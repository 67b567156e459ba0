#pragma once

namespace warpfold::bench {

/// Byte that fills results before a candidate writes them, so that none passes for another's.
inline constexpr int poison = 0xa5;

}  // namespace warpfold::bench
