#include "bench/cub/cub_peers.hpp"

/// The peers of a build without benchmarks.
namespace warpfold::bench {

std::string cub_description() { return "not built (WARPFOLD_BENCHMARKS is off)"; }

std::optional<CubSum> cub_sum(ElementType) { return std::nullopt; }

CubLaunch cub_scan(ElementType, ElementType, bool) { return nullptr; }

std::uint64_t max_cub_scan_elements() { return 0; }

}  // namespace warpfold::bench
