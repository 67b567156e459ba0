#include <memory>
#include <string_view>

#include "bench/gpu/host_reference.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/harness/across_ranks.hpp"
#include "bench/kernels/kernels.hpp"
#include "cli/options/option_values.hpp"
#include "core/results/summarize.hpp"
#include "cuda/arrays/device_scan.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/device_collectives.hpp"

namespace warpfold::bench {
namespace {

using kernels::Pattern;

const std::vector<std::string> collective_kernels{"reduce", "scan", "fast", "copy"};
const std::vector<std::string> all_operations{"sum", "statistics", "inclusive", "exclusive"};

/// Whole tiles of every type.
constexpr std::uint64_t min_usual_size = std::uint64_t{64} << 10;
constexpr std::uint64_t max_usual_size = std::uint64_t{4} << 30;

std::vector<Statistic> statistics_of(std::string_view operation) {
  if (operation == "sum") return {Statistic::sum};
  return {Statistic::count, Statistic::sum, Statistic::mean,   Statistic::std,
          Statistic::min,   Statistic::max, Statistic::argmin, Statistic::argmax};
}

SizePlan plan_of(const Settings& settings, std::uint64_t memory_bytes) {
  const auto usual = cli::powers_of_4(min_usual_size, max_usual_size);
  return plan_sizes(settings.sizes.empty() ? usual : settings.sizes, 2, memory_bytes, 0);
}

/// Arrays of one element type on all ranks, and the prefixes of their elements, of the same type.
class CollectivesCase {
 public:
  CollectivesCase(Rig& rig, DeviceCollectives& collectives, const Settings& settings,
                  ElementType type)
      : rig_(rig),
        collectives_(collectives),
        type_(type),
        group_("collectives " + std::string(name_of(type))),
        operations_(chosen_names("operation", settings.operations, all_operations, all_operations)),
        kernels_(chosen_names("kernel", settings.kernels, collective_kernels, collective_kernels)),
        plan_(plan_of(settings, rig.memory_bytes())) {
    rig_.on_every_rank([&] {
      input_ = cuda::DeviceBuffer(plan_.capacity);
      output_ = cuda::DeviceBuffer(plan_.capacity);
    });
  }

  void run() {
    for (const std::uint64_t size : plan_.fitting)
      if (size >= size_of(type_)) rig_.measure_together(checked_candidates(size));
    for (const std::uint64_t size : plan_.too_large)
      rig_.add_note(group_, size, "skipped: the GPU's memory does not hold such arrays");
  }

 private:
  std::vector<Candidate> checked_candidates(std::uint64_t size) {
    elements_ = size / size_of(type_);
    std::vector<Candidate> candidates;
    if (contains(kernels_, "fast") && (type_ == ElementType::f32 || type_ == ElementType::f64)) {
      fill_input(Pattern::steps);
      add_scans(candidates, "fast", FloatSums::fast);
    }
    fill_input(Pattern::uniform);
    for (const char* operation : {"sum", "statistics"})
      if (contains(kernels_, "reduce") && contains(operations_, operation))
        candidates.push_back(reduction(operation));
    if (contains(kernels_, "scan")) add_scans(candidates, "scan", FloatSums::reproducible);
    if (contains(kernels_, "copy")) candidates.push_back(copy());
    return candidates;
  }

  /// Sets the elements of all ranks, and what their exact reductions are.
  void fill_input(Pattern pattern) {
    rig_.on_every_rank([&] {
      kernels::fill(input_.data(), type_, pattern, elements_,
                    static_cast<std::uint64_t>(rig_.rank()) + 1, rig_.stream());
      mine_ = prefix_reduces(rig_.host(), input_.data(), {type_}, everything, {elements_},
                             rig_.stream())
                  .front();
      mine_.shift_indices(static_cast<std::uint64_t>(rig_.rank()) * elements_);
    });
  }

  Row row(std::string operation, std::string kernel, std::uint64_t bytes_moved) const {
    return {.group = group_,
            .operation = std::move(operation),
            .kernel = std::move(kernel),
            .clock = Clock::host,
            .elements = elements_,
            .bytes = array_bytes(),
            .useful_bytes = bytes_moved};
  }

  std::uint64_t array_bytes() const { return elements_ * size_of(type_); }
  DeviceArray array() const { return {input_.data(), elements_, type_}; }

  Candidate reduction(const char* operation) {
    Candidate candidate{row(operation, "reduce", array_bytes())};
    const DeviceReduceOptions options{statistics_of(operation), {}};
    const auto reduce = [=, this, array = array()] {
      return collectives_.reduce(array, options, rig_.stream());
    };
    const Accumulator whole = merged_ranks(mine_, ranks(), rig_.communicator());
    const bool right = reduce() == summarize(whole, type_, options.statistics, {});
    candidate.row.check = check_of_ranks(right, rig_.communicator());
    candidate.run = [reduce](std::uint64_t) { reduce(); };
    return candidate;
  }

  void add_scans(std::vector<Candidate>& candidates, const char* kernel, FloatSums float_sums) {
    for (const char* operation : {"inclusive", "exclusive"})
      if (contains(operations_, operation))
        candidates.push_back(scan(operation, kernel, float_sums));
  }

  Candidate scan(const std::string& operation, const char* kernel, FloatSums float_sums) {
    const bool exclusive = operation == "exclusive";
    const bool reproducible = is_floating(type_) && float_sums == FloatSums::reproducible;
    Candidate candidate{row(operation, kernel, 0)};
    const ScanSpec spec{{type_}, ScanOperation::sum, exclusive, type_, OverflowPolicy::wrap};
    candidate.row.useful_bytes = passes(spec, reproducible || !is_floating(type_)) * array_bytes();
    DeviceScanOptions options;
    options.exclusive = exclusive;
    options.output_type = type_;
    options.overflow = OverflowPolicy::wrap;
    options.float_sums = float_sums;
    candidate.run = [=, this, array = array()](std::uint64_t) {
      collectives_.scan(array, output_.data(), options, rig_.stream());
      cuda::synchronize(rig_.stream());
    };
    candidate.row.check =
        check_of_ranks(is_right(spec, candidate, reproducible), rig_.communicator());
    return candidate;
  }

  /// Returns how often a scan moves the array, at most, on any rank: the reduction reads it, the
  /// scan reads and writes it, and one rank alone may do without the reduction.
  std::uint64_t passes(const ScanSpec& spec, bool reproducible) const {
    bool reduces = ranks() > 1;
    rig_.on_every_rank(
        [&] { reduces = reduces || cuda::DeviceScan(spec, reproducible).needs_total(elements_); });
    return reduces ? 3 : 2;
  }

  /// Returns whether this rank's prefixes are right: both ends of them as the host computes them,
  /// and, where prefixes are exact, each as the one before it demands.
  bool is_right(const ScanSpec& spec, const Candidate& candidate, bool rounded) {
    const Accumulator before = merged_ranks(mine_, rig_.rank(), rig_.communicator());
    std::unique_ptr<ScanReference> reference;
    rig_.on_every_rank([&] {
      reference = std::make_unique<ScanReference>(rig_.host(), spec, input_.data(),
                                                  std::vector{elements_}, rig_.stream(), before);
      rig_.poison(output_.data(), array_bytes());
    });
    candidate.run(0);
    bool right = false;
    rig_.on_every_rank([&] {
      right = reference->agrees(0, output_.data(), rig_.stream()) &&
              (rounded || type_ == ElementType::f16 || type_ == ElementType::bf16 ||
               follow_from_each_other(spec));
    });
    return right;
  }

  /// Returns whether all prefixes but the first, which has to do with lower ranks, follow from the
  /// one before.
  bool follow_from_each_other(const ScanSpec& spec) {
    return kernels::scan_mismatches({input_.data(), output_.data(), elements_, type_, type_,
                                     spec.operation, spec.exclusive},
                                    rig_.stream()) <= 1;
  }

  Candidate copy() {
    return {row("copy", "copy", 2 * array_bytes()), [this, bytes = array_bytes()](std::uint64_t) {
              cuda::copy_on_device(output_.data(), input_.data(), bytes, rig_.stream());
              cuda::synchronize(rig_.stream());
            }};
  }

  int ranks() const { return rig_.communicator().size(); }

  Rig& rig_;
  DeviceCollectives& collectives_;
  ElementType type_;
  std::string group_;
  std::vector<std::string> operations_;
  std::vector<std::string> kernels_;
  SizePlan plan_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer output_;
  std::uint64_t elements_ = 0;  ///< elements per rank, at the measured size
  Accumulator mine_ =
      Accumulator::empty();  ///< their exact reduction, indices counted over all ranks
};

}  // namespace

Result bench_collectives(MPI_Comm communicator, const Settings& settings) {
  const std::vector<ElementType> types =
      chosen_types(settings.types, {ElementType::f64, ElementType::f32, ElementType::i64});
  Rig rig(communicator, settings);
  DeviceCollectives collectives(communicator);
  for (const ElementType type : types) CollectivesCase(rig, collectives, settings, type).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
