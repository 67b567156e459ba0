#include <bit>
#include <memory>

#include "bench/cub/cub_peers.hpp"
#include "bench/gpu/data.hpp"
#include "bench/gpu/host_reference.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/kernels/kernels.hpp"
#include "core/results/summarize.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/statistic.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::bench {
namespace {

using kernels::Pattern;

/// Up to this size the time to a value on the host is measured too.
constexpr std::uint64_t largest_latency_size = std::uint64_t{4} << 20;

const std::vector<std::string> reduce_kernels{"fold", "CUB", "CUB gpu_to_gpu", "read", "copy"};

struct ReduceOperation {
  std::string name;
  std::vector<Statistic> statistics;
};

const std::vector<ReduceOperation>& reduce_operations() {
  static const std::vector<ReduceOperation> all{
      {"sum", {Statistic::sum}},
      {"extrema", {Statistic::min, Statistic::max, Statistic::argmin, Statistic::argmax}},
      {"statistics",
       {Statistic::count, Statistic::sum, Statistic::mean, Statistic::std, Statistic::min,
        Statistic::max, Statistic::argmin, Statistic::argmax}}};
  return all;
}

struct Case {
  ElementType type;
  std::string data;
};

std::vector<Case> chosen_cases(const Settings& settings) {
  const auto types = chosen_types(
      settings.types, {ElementType::f64, ElementType::f32, ElementType::u8, ElementType::i16,
                       ElementType::u32, ElementType::i64, ElementType::f16, ElementType::bf16});
  std::vector<Case> cases;
  for (const ElementType type : types) {
    const bool both = type == ElementType::f32 || type == ElementType::f64;
    const std::vector<std::string> usual =
        both ? std::vector<std::string>{"uniform", "wide"} : std::vector<std::string>{"uniform"};
    for (const std::string& data : chosen_data(settings, type, usual))
      cases.push_back({type, data});
  }
  return cases;
}

/// One element type and kind of data, at all sizes.
class ReduceCase {
 public:
  ReduceCase(Rig& rig, const Settings& settings, const Case& chosen)
      : rig_(rig),
        type_(chosen.type),
        element_bytes_(size_of(chosen.type)),
        group_("reduce " + std::string(name_of(chosen.type)) + ' ' + chosen.data),
        operations_(chosen_names("operation", settings.operations, {"sum", "statistics", "extrema"},
                                 {"sum", "statistics"})),
        kernels_(chosen_names("kernel", settings.kernels, reduce_kernels, reduce_kernels)),
        plan_(plan_sizes(sizes_or_usual(settings.sizes), 2, rig.memory_bytes(), rotation_bytes)) {
    rig_.on_every_rank([&] { prepare(pattern_named(chosen.data)); });
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

  Row row(std::size_t size, std::string operation, std::string kernel) const {
    const std::uint64_t elements = plan_.fitting[size] / element_bytes_;
    return {.group = group_,
            .operation = std::move(operation),
            .kernel = std::move(kernel),
            .elements = elements,
            .bytes = plan_.fitting[size],
            .useful_bytes = elements * element_bytes_};
  }

  Windows windows(std::size_t size) const { return {plan_.capacity, plan_.fitting[size]}; }

  std::vector<Candidate> device_candidates(std::size_t size) {
    std::vector<Candidate> candidates;
    for (const ReduceOperation& operation : reduce_operations())
      if (contains(kernels_, "fold") && contains(operations_, operation.name))
        candidates.push_back(reduce(size, operation, std::make_shared<cuda::DeviceReduce>()));
    if (contains(kernels_, "CUB")) candidates.push_back(cub(size));
    if (contains(kernels_, "CUB gpu_to_gpu") && size_of(type_) > 2 && is_floating(type_))
      candidates.push_back(
          cub(size, "CUB gpu_to_gpu", cub_gpu_to_gpu_sum(type_), type_, cub_guarantee_absence()));
    if (contains(kernels_, "read")) candidates.push_back(read(size));
    if (contains(kernels_, "copy"))
      candidates.push_back(rig_.copy(row(size, "copy", "copy"), target_, input_, windows(size)));
    return candidates;
  }

  Candidate reduce(std::size_t size, const ReduceOperation& operation,
                   const std::shared_ptr<cuda::DeviceReduce>& device_reduce) {
    Candidate candidate{row(size, operation.name, "fold")};
    const ReduceNeeds needs = needs_of(operation.statistics, type_);
    candidate.run = [=, this, elements = candidate.row.elements,
                     windows = windows(size)](std::uint64_t launch) {
      device_reduce->start(input_.data() + windows.offset(launch), elements, {type_}, needs, 0,
                           rig_.stream());
    };
    candidate.run(0);
    const Summary claimed = summarize(device_reduce->result(), type_, operation.statistics, {});
    const Summary right = summarize(exact_[size], type_, operation.statistics, {});
    candidate.row.check = claimed == right ? Check::right : Check::wrong;
    candidate.after = [device_reduce](Row&) { device_reduce->result(); };
    return candidate;
  }

  Candidate cub(std::size_t size) {
    const auto sum = cub_sum(type_);
    return cub(size, "CUB", sum ? sum->launch : nullptr, sum ? sum->output : type_, cub_absence());
  }

  Candidate cub(std::size_t size, const std::string& kernel, const CubLaunch& launch_sum,
                ElementType output, const std::string& absence) {
    Candidate candidate{row(size, "sum", kernel)};
    if (launch_sum == nullptr) {
      candidate.row.note = absence;
      return candidate;
    }
    const CubRun run(launch_sum, candidate.row.elements, rig_.stream());
    candidate.run = [=, this, windows = windows(size)](std::uint64_t launch) {
      run(input_.data() + windows.offset(launch), result_.data());
    };
    candidate.run(0);
    judge_sum(candidate.row, result_bits(), type_, output, exact_[size]);
    if (is_floating(type_))
      candidate.row.check =
          adds_steps(run, candidate.row.elements, output) ? Check::right : Check::wrong;
    return candidate;
  }

  std::uint64_t result_bits() const {
    return cuda::downloaded_value<std::uint64_t>(result_.data(), rig_.stream());
  }

  /// Returns whether a sum is right on data whose partial sums are exact.
  bool adds_steps(const CubRun& run, std::uint64_t elements, ElementType output) {
    kernels::fill(target_.data(), type_, Pattern::steps, elements, 1, rig_.stream());
    run(target_.data(), result_.data());
    const std::uint64_t bits = result_bits();
    const double sum = output == ElementType::f64
                           ? std::bit_cast<double>(bits)
                           : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    cuda::DeviceReduce reduce;
    reduce.start(target_.data(), elements, {type_}, {true}, 0, rig_.stream());
    return reduce.result().sum.rounded() == sum;
  }

  Candidate read(std::size_t size) {
    Candidate candidate{row(size, "read", "read")};
    const int blocks = kernels::resident_probe_blocks();
    candidate.run = [=, this, bytes = candidate.row.bytes,
                     windows = windows(size)](std::uint64_t launch) {
      kernels::read_probe(input_.data() + windows.offset(launch), bytes,
                          reinterpret_cast<std::uint32_t*>(result_.data()), blocks, rig_.stream());
    };
    return candidate;
  }

  /// Makes candidates whose time goes from the call to the value on the host.
  std::vector<Candidate> host_candidates(std::size_t size) {
    std::vector<Candidate> candidates;
    if (contains(kernels_, "fold")) {
      const auto device_reduce = std::make_shared<cuda::DeviceReduce>();
      candidates.push_back(to_host(reduce(size, reduce_operations().front(), device_reduce),
                                   [device_reduce] { device_reduce->result(); }));
    }
    if (contains(kernels_, "CUB")) {
      const auto value = std::make_shared<cuda::PinnedBuffer>(sizeof(std::uint64_t));
      candidates.push_back(to_host(cub(size), [this, value] {
        cuda::copy_to_host(value->data(), result_.data(), value->size(), rig_.stream());
        cuda::synchronize(rig_.stream());
      }));
    }
    return candidates;
  }

  /// Makes the candidate run until `take` has its value, always of the same elements.
  Candidate to_host(Candidate candidate, std::function<void()> take) const {
    candidate.row.group = group_ + ", to a value on the host";
    candidate.row.clock = Clock::host;
    candidate.run = [run = std::move(candidate.run), take = std::move(take)](std::uint64_t) {
      run(0);
      take();
    };
    candidate.after = [this](Row&) { cuda::synchronize(rig_.stream()); };
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
  cuda::DeviceBuffer target_;  ///< target of copies
  cuda::DeviceBuffer result_;
  std::vector<Accumulator> exact_;  ///< exact results of the first elements, by size
};

}  // namespace

Result bench_reduce(MPI_Comm communicator, const Settings& settings) {
  const std::vector<Case> cases = chosen_cases(settings);
  Rig rig(communicator, settings);
  for (const Case& each : cases) ReduceCase(rig, settings, each).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
