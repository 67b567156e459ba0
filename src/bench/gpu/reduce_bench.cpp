#include <algorithm>
#include <memory>
#include <string_view>

#include "bench/cub/cub_peers.hpp"
#include "bench/cub/cub_run.hpp"
#include "bench/gpu/host_reference.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/harness/bench.hpp"
#include "bench/harness/selection.hpp"
#include "bench/harness/size_plan.hpp"
#include "bench/harness/sum_check.hpp"
#include "bench/kernels/fill.hpp"
#include "bench/kernels/read_probe.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/download.hpp"
#include "cuda/runtime/pinned_buffer.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::bench {
namespace {

using kernels::Pattern;

/// Up to this size the time to a value on the host is measured too.
constexpr std::uint64_t largest_latency_size = std::uint64_t{4} << 20;

const std::vector<std::string> all_kernels{"fold", "CUB", "read", "copy"};

struct Operation {
  std::string name;
  std::vector<Statistic> statistics;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{
      {"sum", {Statistic::sum}},
      {"extrema", {Statistic::min, Statistic::max, Statistic::argmin, Statistic::argmax}},
      {"statistics",
       {Statistic::count, Statistic::sum, Statistic::mean, Statistic::std, Statistic::min,
        Statistic::max, Statistic::argmin, Statistic::argmax}}};
  return all;
}

struct Case {
  ElementType type;
  Pattern pattern;
};

std::vector<Case> chosen_cases(const Settings& settings) {
  std::vector<ElementType> types{ElementType::f64, ElementType::f32, ElementType::u8,
                                 ElementType::i16, ElementType::u32, ElementType::i64,
                                 ElementType::f16, ElementType::bf16};
  if (!settings.types.empty()) types.clear();
  for (const std::string& name : settings.types) types.push_back(parse_element_type(name));
  std::vector<Case> cases;
  for (const ElementType type : types) {
    cases.push_back({type, Pattern::uniform});
    if (type == ElementType::f32 || type == ElementType::f64)
      cases.push_back({type, Pattern::wide});
  }
  return cases;
}

/// What any of the operations needs.
constexpr ReduceNeeds everything{true, false, true, true};

/// One element type and kind of data, at all sizes.
class ReduceCase {
 public:
  ReduceCase(Rig& rig, const Settings& settings, const Case& chosen)
      : rig_(rig),
        type_(chosen.type),
        element_bytes_(size_of(chosen.type)),
        group_("reduce " + std::string(name_of(chosen.type)) +
               (chosen.pattern == Pattern::wide ? " wide" : " uniform")),
        operations_(chosen_names("operation", settings.operations, {"sum", "statistics", "extrema"},
                                 {"sum", "statistics"})),
        kernels_(chosen_names("kernel", settings.kernels, all_kernels, all_kernels)),
        plan_(plan_sizes(sizes_or_usual(settings.sizes), 2, rig.memory_bytes(), rotation_bytes)) {
    rig_.on_every_rank([&] { prepare(chosen.pattern); });
  }

  void run() {
    for (std::size_t i = 0; i < plan_.fitting.size(); ++i)
      if (plan_.fitting[i] >= element_bytes_) rig_.measure([&] { return device_candidates(i); });
    for (const std::uint64_t size : plan_.too_large)
      rig_.add_note(group_, size, "skipped: the GPU's memory does not hold two such arrays");
    if (!contains(operations_, "sum")) return;
    for (std::size_t i = 0; i < plan_.fitting.size(); ++i)
      if (plan_.fitting[i] >= element_bytes_ && plan_.fitting[i] <= largest_latency_size)
        rig_.measure([&] { return host_candidates(i); });
  }

 private:
  void prepare(Pattern pattern) {
    input_ = cuda::DeviceBuffer(plan_.capacity);
    target_ = cuda::DeviceBuffer(plan_.capacity);
    result_ = cuda::DeviceBuffer(sizeof(std::uint64_t));
    cuda::fill_bytes(result_.data(), 0, result_.size(), rig_.stream());
    kernels::fill(input_.data(), type_, pattern, plan_.capacity / element_bytes_,
                  static_cast<std::uint64_t>(rig_.rank()) + 1, rig_.stream());
    std::vector<std::uint64_t> counts;
    for (const std::uint64_t size : plan_.fitting) counts.push_back(size / element_bytes_);
    exact_ = prefix_reduces(rig_.host(), input_.data(), {type_}, everything, counts, rig_.stream());
  }

  Row row(std::size_t size, std::string_view operation, std::string_view kernel) const {
    Row row;
    row.group = group_;
    row.operation = operation;
    row.kernel = kernel;
    row.bytes = plan_.fitting[size];
    row.elements = row.bytes / element_bytes_;
    row.useful_bytes = row.elements * element_bytes_;
    return row;
  }

  std::vector<Candidate> device_candidates(std::size_t size) {
    std::vector<Candidate> candidates;
    for (const Operation& operation : operations())
      if (contains(kernels_, "fold") && contains(operations_, operation.name))
        candidates.push_back(reduce(size, operation));
    if (contains(kernels_, "CUB")) candidates.push_back(cub(size));
    if (contains(kernels_, "read")) candidates.push_back(read(size));
    if (contains(kernels_, "copy")) candidates.push_back(copy(size));
    return candidates;
  }

  Candidate reduce(std::size_t size, const Operation& operation) {
    Candidate candidate{row(size, operation.name, "fold"), {}, {}};
    const auto device_reduce = std::make_shared<cuda::DeviceReduce>();
    const ReduceNeeds needs = needs_of(operation.statistics, type_);
    const Windows windows(plan_.capacity, plan_.fitting[size]);
    candidate.start = [=, this, elements = candidate.row.elements](std::uint64_t launch) {
      device_reduce->start(input_.data() + windows.offset(launch), elements, {type_}, needs, 0,
                           rig_.stream());
    };
    candidate.start(0);
    const Summary claimed = summarize(device_reduce->result(), type_, operation.statistics, {});
    const Summary right = summarize(exact_[size], type_, operation.statistics, {});
    candidate.row.check = claimed == right ? Check::right : Check::wrong;
    candidate.finish = [device_reduce] { device_reduce->result(); };
    return candidate;
  }

  Candidate cub(std::size_t size) {
    Candidate candidate{row(size, "sum", "CUB"), {}, {}};
    const auto sum = cub_sum(type_);
    if (!sum) {
      candidate.row.note = "not compiled for this type; " + cub_description();
      return candidate;
    }
    const CubRun run(sum->launch, candidate.row.elements, rig_.stream());
    const Windows windows(plan_.capacity, plan_.fitting[size]);
    candidate.start = [=, this](std::uint64_t launch) {
      run(input_.data() + windows.offset(launch), result_.data());
    };
    candidate.start(0);
    const auto bits = cuda::downloaded_value<std::uint64_t>(result_.data(), rig_.stream());
    judge_sum(candidate.row, bits, type_, sum->output, exact_[size]);
    return candidate;
  }

  Candidate read(std::size_t size) {
    Candidate candidate{row(size, "read", "read"), {}, {}};
    const Windows windows(plan_.capacity, plan_.fitting[size]);
    const int blocks = kernels::resident_probe_blocks();
    candidate.start = [=, this, bytes = candidate.row.bytes](std::uint64_t launch) {
      kernels::read_probe(input_.data() + windows.offset(launch), bytes,
                          reinterpret_cast<std::uint32_t*>(result_.data()), blocks, rig_.stream());
    };
    return candidate;
  }

  Candidate copy(std::size_t size) {
    Candidate candidate{row(size, "copy", "copy"), {}, {}};
    candidate.row.useful_bytes *= 2;
    const Windows windows(plan_.capacity, plan_.fitting[size]);
    candidate.start = [=, this, bytes = candidate.row.bytes](std::uint64_t launch) {
      const std::uint64_t offset = windows.offset(launch);
      cuda::copy_on_device(target_.data() + offset, input_.data() + offset, bytes, rig_.stream());
    };
    return candidate;
  }

  /// From the call to the value on the host, always of the same elements.
  std::vector<Candidate> host_candidates(std::size_t size) {
    std::vector<Candidate> candidates;
    if (contains(kernels_, "fold")) candidates.push_back(reduce(size, operations().front()));
    if (contains(kernels_, "CUB")) candidates.push_back(cub_to_host(size));
    for (Candidate& candidate : candidates) {
      candidate.row.group = group_ + ", to a value on the host";
      candidate.row.clock = Clock::host;
      candidate.start = [start = std::move(candidate.start)](std::uint64_t) { start(0); };
    }
    return candidates;
  }

  Candidate cub_to_host(std::size_t size) {
    Candidate candidate = cub(size);
    const auto value = std::make_shared<cuda::PinnedBuffer>(sizeof(std::uint64_t));
    candidate.finish = [this, value] {
      cuda::copy_to_host(value->data(), result_.data(), value->size(), rig_.stream());
      cuda::synchronize(rig_.stream());
    };
    return candidate;
  }

  Rig& rig_;
  ElementType type_;
  std::size_t element_bytes_;
  std::string group_;
  std::vector<std::string> operations_;
  std::vector<std::string> kernels_;
  SizePlan plan_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer target_;  ///< of copies
  cuda::DeviceBuffer result_;
  std::vector<Accumulator> exact_;  ///< of the first elements, by size
};

}  // namespace

Result bench_reduce(MPI_Comm communicator, const Settings& settings) {
  const std::vector<Case> cases = chosen_cases(settings);
  Rig rig(communicator, settings.run, settings.iterations);
  for (const Case& each : cases) ReduceCase(rig, settings, each).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
