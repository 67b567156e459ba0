#include "bench/cub/cub_peers.hpp"

/// The peers of a build without benchmarks.
namespace warpfold::bench {

std::string cub_description() { return "not built (WARPFOLD_BENCHMARKS is off)"; }

std::optional<CubSum> cub_sum(ElementType) { return std::nullopt; }

CubLaunch cub_scan(ElementType, ElementType, bool) { return nullptr; }

CubLaunch cub_gpu_to_gpu_sum(ElementType) { return nullptr; }

CubLaunch cub_run_to_run_scan(ElementType, bool) { return nullptr; }

CubLaunch cub_histogram(ElementType, int, double, double) { return nullptr; }

CubLaunch cub_select(ElementType, double) { return nullptr; }

CubLaunch cub_line_sums(ElementType, std::uint64_t) { return nullptr; }

CubLaunch cub_line_prefixes(ElementType, std::uint64_t) { return nullptr; }

std::uint64_t max_cub_scan_elements() { return 0; }

}  // namespace warpfold::bench
