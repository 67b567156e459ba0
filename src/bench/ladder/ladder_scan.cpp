#include <memory>

#include "bench/cub/cub_run.hpp"
#include "bench/gpu/poison.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/gpu/scan_check.hpp"
#include "bench/kernels/fill.hpp"
#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_bench.hpp"
#include "bench/ladder/ladder_names.hpp"
#include "cuda/arrays/array_scan.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/device_buffer.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t usual_elements = std::uint64_t{1} << 26;

constexpr ElementType type = ElementType::i32;

class ScanLadder {
 public:
  ScanLadder(Rig& rig, const LadderSettings& settings)
      : rig_(rig),
        elements_(settings.elements.value_or(usual_elements)),
        variants_(cuda::ladder::scan_variants()),
        kernels_(chosen_kernels(settings.kernels, names_of(variants_), {"scan", "CUB", "copy"})) {}

  void run() {
    const std::uint64_t bytes = elements_ * size_of(type);
    if (3 * bytes > rig_.memory_bytes())
      return rig_.add_note(group, bytes, "skipped: the GPU's memory does not hold such arrays");
    rig_.measure([this] { return checked_candidates(); });
  }

 private:
  static constexpr const char* group = "ladder scan i32";

  Row row(const std::string& operation, const std::string& kernel) const {
    Row row;
    row.group = group;
    row.operation = operation;
    row.kernel = kernel;
    row.elements = elements_;
    row.bytes = elements_ * size_of(type);
    row.useful_bytes = 2 * row.bytes;
    return row;
  }

  std::vector<Candidate> checked_candidates() {
    input_ = cuda::DeviceBuffer(elements_ * size_of(type));
    output_ = cuda::DeviceBuffer(elements_ * size_of(type));
    kernels::fill(input_.data(), type, kernels::Pattern::uniform, elements_, 1, rig_.stream());
    std::vector<Candidate> scans;
    for (const cuda::ladder::Variant& variant : variants_)
      if (contains(kernels_, variant.name)) scans.push_back(candidate_of(variant));
    if (contains(kernels_, "scan")) scans.push_back(production());
    if (contains(kernels_, "CUB")) scans.push_back(cub());
    for (Candidate& scan : scans) check(scan);
    if (contains(kernels_, "copy")) scans.push_back(copy());
    return scans;
  }

  Candidate candidate_of(const cuda::ladder::Variant& variant) {
    Candidate candidate{row("inclusive", variant.name), {}, {}};
    candidate.row.title = variant.title;
    candidate.row.note = variant.refusal;
    if (!variant.refusal.empty()) return candidate;
    const auto scratch = std::make_shared<cuda::DeviceBuffer>(variant.scratch_bytes(elements_));
    candidate.start = [=, this, start = variant.start](std::uint64_t) {
      start(input_.data(), elements_, output_.data(), scratch->data(), rig_.stream());
    };
    return candidate;
  }

  Candidate production() {
    Candidate candidate{row("inclusive", "scan"), {}, {}};
    candidate.row.title = "the production kernel";
    const auto scan = std::make_shared<cuda::ArrayScan>(type, type, ScanOperation::sum);
    candidate.start = [=, this](std::uint64_t) {
      scan->start(input_.data(), output_.data(), elements_, false, nullptr, rig_.stream());
    };
    return candidate;
  }

  Candidate cub() {
    Candidate candidate{row("inclusive", "CUB"), {}, {}};
    const CubLaunch launch = cub_scan(type, type, false);
    if (launch == nullptr || elements_ > max_cub_scan_elements()) {
      candidate.row.note = "not for this array; " + cub_description();
      return candidate;
    }
    const CubRun run(launch, elements_, rig_.stream());
    candidate.start = [=, this](std::uint64_t) { run(input_.data(), output_.data()); };
    return candidate;
  }

  Candidate copy() {
    Candidate candidate{row("copy", "copy"), {}, {}};
    candidate.start = [this, bytes = candidate.row.bytes](std::uint64_t) {
      cuda::copy_on_device(output_.data(), input_.data(), bytes, rig_.stream());
    };
    return candidate;
  }

  void check(Candidate& scan) {
    if (!scan.row.note.empty()) return;
    cuda::fill_bytes(output_.data(), poison, output_.size(), rig_.stream());
    scan.start(0);
    const std::uint64_t mismatches = scan_mismatches(
        {input_.data(), output_.data(), elements_, type, type, ScanOperation::sum, false},
        rig_.stream());
    scan.row.check = mismatches == 0 ? Check::right : Check::wrong;
  }

  Rig& rig_;
  std::uint64_t elements_;
  std::vector<cuda::ladder::Variant> variants_;
  std::vector<std::string> kernels_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer output_;
};

}  // namespace

Result ladder_scan(MPI_Comm communicator, const LadderSettings& settings) {
  chosen_names("type", settings.types, {"i32"}, {"i32"});
  Rig rig(communicator, settings.run, settings.iterations);
  ScanLadder(rig, settings).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
