#include <memory>

#include "bench/cub/cub_peers.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/kernels/kernels.hpp"
#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "core/layout/partition.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/one_pass_scan.hpp"

namespace warpfold::bench::ladder {
namespace {

using ScanParts = void (*)(const PartScan& scan, cudaStream_t stream);
using Scan = void (*)(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      std::byte* scratch, cudaStream_t stream);

std::uint64_t parts_of(std::uint64_t elements) { return ceil_div(elements, part_elements); }

/// Part sums in one level.
std::uint64_t one_level_bytes(std::uint64_t elements) {
  return parts_of(elements) * sizeof(std::uint32_t);
}

/// Part sums, part sums of these, and so on until one is left.
std::uint64_t all_levels_bytes(std::uint64_t elements) {
  cuda::Scratch scratch;
  do {
    elements = parts_of(elements);
    scratch.take<std::uint32_t>(elements);
  } while (elements > 1);
  return scratch.bytes();
}

/// Tile sums, and what the scan of them needs.
std::uint64_t tile_sums_bytes(std::uint64_t elements) {
  cuda::Scratch scratch;
  const std::uint64_t tiles = ceil_div(elements, tile_elements);
  scratch.take<std::uint32_t>(tiles);
  return scratch.bytes() + all_levels_bytes(tiles);
}

/// Scan of the parts, of their sums by one thread, addition: three kernels.
template <ScanParts Parts>
void scan_three_kernels(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                        std::byte* scratch, cudaStream_t stream) {
  auto* part_sums = reinterpret_cast<std::uint32_t*>(scratch);
  Parts({input, elements, output, part_sums}, stream);
  scan_by_one_thread(part_sums, parts_of(elements), stream);
  add_part_bases(output, elements, part_sums, stream);
}

/// The same, the sums being scanned as the elements are.
template <ScanParts Parts>
void scan_recursively(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      cuda::Scratch& scratch, cudaStream_t stream) {
  const std::uint64_t parts = parts_of(elements);
  auto* part_sums = scratch.take<std::uint32_t>(parts);
  Parts({input, elements, output, part_sums}, stream);
  if (parts == 1) return;
  scan_recursively<Parts>(part_sums, parts, part_sums, scratch, stream);
  add_part_bases(output, elements, part_sums, stream);
}

template <ScanParts Parts>
void scan_recursively(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      std::byte* memory, cudaStream_t stream) {
  cuda::Scratch scratch(memory);
  scan_recursively<Parts>(input, elements, output, scratch, stream);
}

void reduce_then_scan(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
                      std::byte* memory, cudaStream_t stream) {
  cuda::Scratch scratch(memory);
  const std::uint64_t tiles = ceil_div(elements, tile_elements);
  auto* tile_sums = scratch.take<std::uint32_t>(tiles);
  sum_tiles(input, elements, tile_sums, stream);
  scan_recursively<scan_parts_shuffle>(tile_sums, tiles, tile_sums, scratch, stream);
  scan_tiles(input, elements, tile_sums, output, stream);
}

LookbackScratch lookback_scratch(cuda::Scratch& scratch, std::uint64_t elements) {
  return {scratch.take<unsigned>(1),
          scratch.take<std::uint64_t>(ceil_div(elements, tile_elements))};
}

std::uint64_t lookback_bytes(std::uint64_t elements) {
  cuda::Scratch scratch;
  lookback_scratch(scratch, elements);
  return scratch.bytes();
}

void lookback(const std::uint32_t* input, std::uint64_t elements, std::uint32_t* output,
              std::byte* memory, cudaStream_t stream) {
  cuda::fill_bytes(memory, 0, lookback_bytes(elements), stream);
  cuda::Scratch scratch(memory);
  scan_lookback(input, elements, output, lookback_scratch(scratch, elements), stream);
}

template <Scan Run>
void start(const void* input, std::uint64_t elements, void* output, std::byte* scratch,
           cudaStream_t stream) {
  if (elements == 0) return;
  Run(static_cast<const std::uint32_t*>(input), elements, static_cast<std::uint32_t*>(output),
      scratch, stream);
}

}  // namespace

std::vector<Variant> scan_variants() {
  return {
      {{"serial", "parts by one thread each, part sums by one thread", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_serial>>},
      {{"serial-shared", "parts staged through shared memory", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_serial_shared>>},
      {{"serial-warps", "parts split to warps, one lane of each adds", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_serial_warps>>},
      {{"kogge-stone", "warps by Kogge and Stone in shared memory", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_kogge_stone>>},
      {{"kogge-stone-padded", "zero padding instead of branches", {}},
       one_level_bytes,
       start<scan_three_kernels<scan_parts_kogge_stone_padded>>},
      {{"recursive", "part sums scanned as the elements are", {}},
       all_levels_bytes,
       start<scan_recursively<scan_parts_kogge_stone_padded>>},
      {{"shuffle", "warps by __shfl_up_sync", {}},
       all_levels_bytes,
       start<scan_recursively<scan_parts_shuffle>>},
      {{"reduce-then-scan", "tiles in registers, summed first, scanned once with their offset", {}},
       tile_sums_bytes,
       start<reduce_then_scan>},
      {{"look-back", "one pass, decoupled look-back", {}}, lookback_bytes, start<lookback>},
  };
}

}  // namespace warpfold::bench::ladder

namespace warpfold::bench {
namespace {

constexpr std::uint64_t usual_scanned = std::uint64_t{1} << 26;

constexpr ElementType type = ElementType::i32;

class ScanLadder {
 public:
  ScanLadder(Rig& rig, const Settings& settings)
      : rig_(rig),
        elements_(settings.elements.value_or(usual_scanned)),
        variants_(ladder::scan_variants()),
        kernels_(chosen_kernels(settings.kernels, variants_, {"scan", "CUB", "copy"})) {}

  void run() {
    const std::uint64_t bytes = elements_ * size_of(type);
    if (3 * bytes > rig_.memory_bytes())
      return rig_.add_note(group, bytes, "skipped: the GPU's memory does not hold such arrays");
    rig_.measure([this] { return checked_candidates(); });
  }

 private:
  static constexpr const char* group = "ladder scan i32";

  Row row(std::string operation, std::string kernel) const {
    return {.group = group,
            .operation = std::move(operation),
            .kernel = std::move(kernel),
            .elements = elements_,
            .bytes = elements_ * size_of(type),
            .useful_bytes = 2 * elements_ * size_of(type)};
  }

  std::vector<Candidate> checked_candidates() {
    input_ = cuda::DeviceBuffer(elements_ * size_of(type));
    output_ = cuda::DeviceBuffer(elements_ * size_of(type));
    kernels::fill(input_.data(), type, kernels::Pattern::uniform, elements_, 1, rig_.stream());
    std::vector<Candidate> scans;
    for (const ladder::Variant& variant : variants_)
      if (contains(kernels_, variant.name))
        scans.push_back(variant.candidate(row("inclusive", variant.name), input_.data(),
                                          output_.data(), rig_.stream()));
    if (contains(kernels_, "scan")) scans.push_back(production());
    if (contains(kernels_, "CUB")) scans.push_back(cub());
    for (Candidate& scan : scans) check(scan);
    if (contains(kernels_, "copy"))
      scans.push_back(rig_.copy(row("copy", "copy"), output_, input_));
    return scans;
  }

  Candidate production() {
    Candidate candidate{row("inclusive", "scan")};
    candidate.row.title = "the production kernel";
    const auto scan = std::make_shared<cuda::OnePassScan>(type, type, ScanOperation::sum);
    candidate.run = [=, this](std::uint64_t) {
      scan->start(input_.data(), output_.data(), elements_, false, nullptr, rig_.stream());
    };
    return candidate;
  }

  Candidate cub() {
    Candidate candidate{row("inclusive", "CUB")};
    const CubLaunch launch = cub_scan(type, type, false);
    if (launch == nullptr || elements_ > max_cub_scan_elements()) {
      candidate.row.note = "not for this array; " + cub_description();
      return candidate;
    }
    const CubRun run(launch, elements_, rig_.stream());
    candidate.run = [=, this](std::uint64_t) { run(input_.data(), output_.data()); };
    return candidate;
  }

  void check(Candidate& scan) {
    if (!scan.row.note.empty()) return;
    rig_.poison(output_.data(), output_.size());
    scan.run(0);
    const std::uint64_t mismatches = kernels::scan_mismatches(
        {input_.data(), output_.data(), elements_, type, type, ScanOperation::sum, false},
        rig_.stream());
    scan.row.check = mismatches == 0 ? Check::right : Check::wrong;
  }

  Rig& rig_;
  std::uint64_t elements_;
  std::vector<ladder::Variant> variants_;
  std::vector<std::string> kernels_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer output_;
};

}  // namespace

Result ladder_scan(MPI_Comm communicator, const Settings& settings) {
  chosen_names("type", settings.types, {"i32"}, {"i32"});
  Rig rig(communicator, settings);
  ScanLadder(rig, settings).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
