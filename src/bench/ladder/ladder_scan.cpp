#include <memory>

#include "bench/cub/cub_peers.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/kernels/check_scan.hpp"
#include "bench/kernels/fill.hpp"
#include "bench/ladder/ladder.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/scan/one_pass_scan.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t usual_elements = std::uint64_t{1} << 26;

constexpr ElementType type = ElementType::i32;

class ScanLadder {
 public:
  ScanLadder(Rig& rig, const Settings& settings)
      : rig_(rig),
        elements_(settings.elements.value_or(usual_elements)),
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
      if (contains(kernels_, variant.name)) scans.push_back(candidate_of(variant));
    if (contains(kernels_, "scan")) scans.push_back(production());
    if (contains(kernels_, "CUB")) scans.push_back(cub());
    for (Candidate& scan : scans) check(scan);
    if (contains(kernels_, "copy"))
      scans.push_back(rig_.copy(row("copy", "copy"), output_, input_));
    return scans;
  }

  Candidate candidate_of(const ladder::Variant& variant) {
    Candidate candidate{row("inclusive", variant.name)};
    candidate.row.title = variant.title;
    candidate.row.note = variant.refusal;
    if (!variant.refusal.empty()) return candidate;
    const auto scratch = std::make_shared<cuda::DeviceBuffer>(variant.scratch_bytes(elements_));
    candidate.run = [=, this, start = variant.start](std::uint64_t) {
      start(input_.data(), elements_, output_.data(), scratch->data(), rig_.stream());
    };
    return candidate;
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
