#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/cub/cub_peers.hpp"
#include "bench/gpu/data.hpp"
#include "bench/gpu/host_reference.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/kernels/kernels.hpp"
#include "cuda/arrays/device_scan.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/scan/one_pass_scan.hpp"

namespace warpfold::bench {
namespace {

using kernels::Pattern;

const std::vector<std::string> scan_kernels{"registers", "reproducible", "CUB", "CUB run_to_run",
                                            "copy"};

struct NamedScan {
  std::string_view name;
  ScanOperation operation;
  bool exclusive;
};

constexpr NamedScan named_scans[] = {{"inclusive", ScanOperation::sum, false},
                                     {"exclusive", ScanOperation::sum, true},
                                     {"min", ScanOperation::min, false},
                                     {"max", ScanOperation::max, false}};

struct Types {
  ElementType input;
  ElementType output;

  bool floating() const { return is_floating(input); }
  std::size_t larger_bytes() const { return std::max(size_of(input), size_of(output)); }
  std::string name() const {
    const std::string in(name_of(input));
    return input == output ? in : in + " to " + std::string(name_of(output));
  }
};

/// "u32", or "u8:u64" for a wider output.
Types parse_types(const std::string& text) {
  const std::size_t colon = text.find(':');
  const ElementType input = parse_element_type(std::string_view(text).substr(0, colon));
  const Types types{input, colon == std::string::npos
                               ? input
                               : parse_element_type(std::string_view(text).substr(colon + 1))};
  validate({{types.input}, ScanOperation::sum, false, types.output});
  return types;
}

std::vector<Types> chosen_types(const Settings& settings) {
  std::vector<Types> types;
  for (const std::string& text : settings.types) types.push_back(parse_types(text));
  if (!types.empty()) return types;
  for (const char* text : {"u32", "i64", "f32", "f64", "u8:u64", "u16:u64", "u8", "u16"})
    types.push_back(parse_types(text));
  return types;
}

/// One pair of types and kind of data, at all sizes.
class ScanCase {
 public:
  ScanCase(Rig& rig, const Settings& settings, Types types, const std::string& data)
      : rig_(rig),
        types_(types),
        data_(pattern_named(data)),
        group_("scan " + types.name() + (types.floating() ? ' ' + data : "")),
        operations_(chosen_names("operation", settings.operations,
                                 {"inclusive", "exclusive", "min", "max"},
                                 {"inclusive", "exclusive"})),
        kernels_(chosen_names("kernel", settings.kernels, scan_kernels, scan_kernels)),
        plan_(plan_sizes(sizes_or_usual(settings.sizes), types.floating() ? 3 : 2,
                         rig.memory_bytes(), rotation_bytes)) {
    rig_.on_every_rank([&] { prepare(); });
  }

  void run() {
    for (std::size_t i = 0; i < plan_.fitting.size(); ++i)
      if (plan_.fitting[i] >= types_.larger_bytes())
        rig_.measure([&] { return checked_candidates(i); });
    for (const std::uint64_t size : plan_.too_large)
      rig_.add_note(group_, size, "skipped: the GPU's memory does not hold such arrays");
  }

 private:
  void prepare() {
    input_ = cuda::DeviceBuffer(plan_.capacity);
    output_ = cuda::DeviceBuffer(plan_.capacity);
    if (types_.floating()) reference_output_ = cuda::DeviceBuffer(plan_.capacity);
    fill_input(data_, plan_.capacity / size_of(types_.input));
    if (!types_.floating()) return;
    std::vector<std::uint64_t> counts;
    for (const std::uint64_t size : plan_.fitting) counts.push_back(elements_of(size));
    for (const bool exclusive : {false, true})
      references_[exclusive].emplace(rig_.host(), sum_spec(exclusive), input_.data(), counts,
                                     rig_.stream());
  }

  void fill_input(Pattern pattern, std::uint64_t elements) {
    kernels::fill(input_.data(), types_.input, pattern, elements,
                  static_cast<std::uint64_t>(rig_.rank()) + 1, rig_.stream());
  }

  std::uint64_t elements_of(std::uint64_t size) const { return size / types_.larger_bytes(); }

  ScanSpec sum_spec(bool exclusive) const {
    return {{types_.input}, ScanOperation::sum, exclusive, types_.output, OverflowPolicy::wrap};
  }

  /// A candidate, and what it claims to compute.
  struct Claim {
    Candidate candidate;
    std::optional<NamedScan> operation;  ///< none for a copy
  };

  Row row(std::size_t size, std::string_view operation, std::string_view kernel) const {
    const std::uint64_t elements = elements_of(plan_.fitting[size]);
    return {.group = group_,
            .operation = std::string(operation),
            .kernel = std::string(kernel),
            .elements = elements,
            .bytes = plan_.fitting[size],
            .useful_bytes = elements * (size_of(types_.input) + size_of(types_.output))};
  }

  Windows windows(std::size_t size) const { return {plan_.capacity, plan_.fitting[size]}; }

  std::vector<Candidate> checked_candidates(std::size_t size) {
    std::vector<Claim> claims;
    for (const NamedScan& operation : named_scans) {
      if (!contains(operations_, operation.name)) continue;
      if (contains(kernels_, "registers"))
        claims.push_back({array_scan(size, operation), operation});
      if (operation.operation != ScanOperation::sum) continue;
      if (types_.floating() && contains(kernels_, "reproducible"))
        claims.push_back({reproducible(size, operation), operation});
      if (contains(kernels_, "CUB"))
        claims.push_back(
            {cub(size, operation, "CUB", cub_scan(types_.input, types_.output, operation.exclusive),
                 cub_absence()),
             operation});
      if (types_.floating() && contains(kernels_, "CUB run_to_run"))
        claims.push_back(
            {cub(size, operation, "CUB run_to_run",
                 cub_run_to_run_scan(types_.input, operation.exclusive), cub_guarantee_absence()),
             operation});
    }
    if (types_.floating())
      check_floats(claims, size);
    else
      for (Claim& claim : claims) check_place_by_place(claim);
    if (contains(kernels_, "copy"))
      claims.push_back(
          {rig_.copy(row(size, "copy", "copy"), output_, input_, windows(size)), std::nullopt});
    std::vector<Candidate> candidates;
    for (Claim& claim : claims) candidates.push_back(std::move(claim.candidate));
    return candidates;
  }

  /// Makes a function of where launch number `launch` begins, in elements.
  auto first_element(std::size_t size) const {
    return [windows = windows(size), bytes = types_.larger_bytes()](std::uint64_t launch) {
      return windows.offset(launch) / bytes;
    };
  }

  const std::byte* input_at(std::uint64_t element) const {
    return input_.data() + element * size_of(types_.input);
  }
  std::byte* output_at(std::uint64_t element) const {
    return output_.data() + element * size_of(types_.output);
  }

  Candidate array_scan(std::size_t size, const NamedScan& operation) {
    Candidate candidate{row(size, operation.name, "registers")};
    if (!cuda::OnePassScan::supports(types_.input, types_.output, operation.operation)) {
      candidate.row.note = "no such scan of these types";
      return candidate;
    }
    const auto scan =
        std::make_shared<cuda::OnePassScan>(types_.input, types_.output, operation.operation);
    candidate.run = [=, this, elements = candidate.row.elements,
                     first = first_element(size)](std::uint64_t launch) {
      scan->start(input_at(first(launch)), output_at(first(launch)), elements, operation.exclusive,
                  nullptr, rig_.stream());
    };
    return candidate;
  }

  /// Scans as a call with one rank does it: after the exact total, where the scan needs that.
  Candidate reproducible(std::size_t size, const NamedScan& operation) {
    Candidate candidate{row(size, operation.name, "reproducible")};
    const auto scan = std::make_shared<cuda::DeviceScan>(sum_spec(operation.exclusive), true);
    candidate.run = [=, this, elements = candidate.row.elements,
                     first = first_element(size)](std::uint64_t launch) {
      const std::byte* input = input_at(first(launch));
      if (scan->needs_total(elements)) scan->total(input, elements, rig_.stream());
      scan->scan(input, output_at(first(launch)), elements, Accumulator::empty(), rig_.stream());
    };
    return candidate;
  }

  Candidate cub(std::size_t size, const NamedScan& operation, std::string_view kernel,
                const CubLaunch& launch_scan, const std::string& absence) {
    Candidate candidate{row(size, operation.name, kernel)};
    if (launch_scan == nullptr) {
      candidate.row.note = absence;
      return candidate;
    }
    if (candidate.row.elements > max_cub_scan_elements()) {
      candidate.row.note = "more elements than this version takes; " + cub_description();
      return candidate;
    }
    const CubRun run(launch_scan, candidate.row.elements, rig_.stream());
    candidate.run = [=, this, first = first_element(size)](std::uint64_t launch) {
      run(input_at(first(launch)), output_at(first(launch)));
    };
    return candidate;
  }

  /// Checks that on data whose partial sums are exact every scan is right; on data that rounds the
  /// reproducible one is compared with the host's, and the others with it.
  void check_floats(std::vector<Claim>& claims, std::size_t size) {
    const std::uint64_t elements = elements_of(plan_.fitting[size]);
    fill_input(Pattern::steps, elements);
    for (Claim& claim : claims)
      if (claim.candidate.row.kernel != "reproducible") check_place_by_place(claim);
    fill_input(data_, elements);
    for (const bool exclusive : {false, true}) {
      const auto reproduced = std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) {
        return claim.candidate.row.kernel == "reproducible" &&
               claim.operation->exclusive == exclusive;
      });
      if (reproduced == claims.end()) continue;
      run_once(*reproduced);
      const bool right = references_[exclusive]->agrees(size, output_.data(), rig_.stream());
      reproduced->candidate.row.check = right ? Check::right : Check::wrong;
      std::swap(output_, reference_output_);
      for (Claim& claim : claims)
        if (&claim != &*reproduced && claim.operation->operation == ScanOperation::sum &&
            claim.operation->exclusive == exclusive)
          measure_error(claim);
    }
  }

  void run_once(Claim& claim) {
    const Row& row = claim.candidate.row;
    rig_.poison(output_.data(), row.elements * size_of(types_.output));
    claim.candidate.run(0);
  }

  void check_place_by_place(Claim& claim) {
    Row& row = claim.candidate.row;
    if (!row.note.empty()) return;
    run_once(claim);
    const std::uint64_t mismatches = kernels::scan_mismatches(
        {input_.data(), output_.data(), row.elements, types_.input, types_.output,
         claim.operation->operation, claim.operation->exclusive},
        rig_.stream());
    row.check = mismatches == 0 ? Check::right : Check::wrong;
  }

  void measure_error(Claim& claim) {
    Row& row = claim.candidate.row;
    if (!row.note.empty()) return;
    run_once(claim);
    row.error_ulps = static_cast<double>(kernels::max_distance(
        output_.data(), reference_output_.data(), row.elements, types_.output, rig_.stream()));
  }

  Rig& rig_;
  Types types_;
  Pattern data_;
  std::string group_;
  std::vector<std::string> operations_;
  std::vector<std::string> kernels_;
  SizePlan plan_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer output_;
  cuda::DeviceBuffer reference_output_;         ///< the reproducible scan of floats
  std::optional<ScanReference> references_[2];  ///< for inclusive and exclusive sums of floats
};

}  // namespace

Result bench_scan(MPI_Comm communicator, const Settings& settings) {
  const std::vector<Types> types = chosen_types(settings);
  Rig rig(communicator, settings);
  for (const Types& each : types)
    for (const std::string& data : chosen_data(settings, each.input, {"uniform"}))
      ScanCase(rig, settings, each, data).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
