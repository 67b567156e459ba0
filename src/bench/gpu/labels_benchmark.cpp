#include <algorithm>
#include <memory>

#include "bench/gpu/array_case.hpp"
#include "bench/gpu/exact_answers.hpp"
#include "bench/kernels/kernels.hpp"
#include "cuda/labels/label_reduction.hpp"

namespace warpfold::bench {
namespace {

using kernels::Labelling;

constexpr std::uint64_t few_labels = 16;
constexpr std::uint64_t many_labels = std::uint64_t{1} << 20;

Labelling labelling_of(const std::string& operation) {
  if (operation.ends_with("skewed")) return Labelling::skewed;
  return operation.ends_with("runs") ? Labelling::runs : Labelling::uniform;
}

/// Labels that a table has room for, as a LabelEngine has them.
std::uint64_t capacity_for(std::uint64_t labels) {
  constexpr std::uint64_t least = 1024;
  constexpr std::uint64_t copies = cuda::LabelReduction::copies_of_few;
  return std::clamp(labels, least, many_labels / 2) * copies;
}

template <class T>
class LabelsCase : public ArrayCase {
 public:
  LabelsCase(Rig& rig, const Settings& settings, const std::string& operation)
      : ArrayCase(rig, settings, {"labels", operation, type, "atomics", 3}),
        labels_(operation.starts_with("few") ? few_labels : many_labels) {
    rig.on_every_rank([&] {
      const std::uint64_t count = capacity() / sizeof(T);
      numbers_ = cuda::DeviceBuffer(count * sizeof(std::uint32_t));
      kernels::fill_labels(numbers(0), labels_, labelling_of(operation), count,
                           static_cast<std::uint64_t>(rig.rank()) + 1, stream());
    });
  }

 private:
  static constexpr ElementType type = element_type_of<T>();
  static constexpr ReduceNeeds sum_only{true, false, false, false};

  /// A count and a sum of each label.
  struct Answer {
    std::vector<std::uint64_t> counts;
    std::vector<SumOf<T>> sums;
  };

  /// Launches add to the same totals: clearing and finishing them, once a run, is not timed.
  void prepare(const Part& part) override {
    const Answer right = right_answer(part);
    const std::uint64_t useful_bytes = part.bytes() + part.elements * sizeof(std::uint32_t);
    const auto reduction =
        std::make_shared<cuda::LabelReduction>(type, sum_only, capacity_for(labels_));
    add(part, useful_bytes,
        {.name = "warpfold",
         .run =
             [=, this](std::uint64_t launch) {
               reduction->take({.elements = part.at(launch),
                                .type = type,
                                .counting = nullptr,
                                .numbers = numbers(part.first(launch)),
                                .places = part.elements,
                                .begin = 0,
                                .end = part.elements,
                                .labels = labels_,
                                .indices = {}},
                               stream());
             },
         .check =
             [&](Row& row) {
               judge(row, answer_of(reduction->finish(labels_, stream())), right, true);
             }});
    const auto sums = std::make_shared<cuda::DeviceBuffer>(labels_ * sizeof(T));
    const auto counts = std::make_shared<cuda::DeviceBuffer>(labels_ * sizeof(std::uint32_t));
    add(part, useful_bytes,
        {.name = "atomics",
         .run =
             [=, this](std::uint64_t launch) {
               kernels::add_by_label(
                   {part.at(launch), type, numbers(part.first(launch)), part.elements, labels_},
                   sums->data(), reinterpret_cast<std::uint32_t*>(counts->data()), stream());
             },
         .check =
             [&](Row& row) {
               const auto counted = downloaded<std::uint32_t>(counts->data(), labels_);
               judge(
                   row,
                   {{counted.begin(), counted.end()}, downloaded<SumOf<T>>(sums->data(), labels_)},
                   right, false);
             }});
  }

  std::uint32_t* numbers(std::uint64_t first) const {
    return reinterpret_cast<std::uint32_t*>(numbers_.data()) + first;
  }

  template <class U>
  std::vector<U> downloaded(const void* array, std::uint64_t count) const {
    return cuda::downloaded_array<U>(array, count, stream());
  }

  Answer right_answer(const Part& part) const {
    const std::vector<T> addends = elements<T>(part);
    const auto labels = downloaded<std::uint32_t>(numbers(0), part.elements);
    Answer right{std::vector<std::uint64_t>(labels_), {}};
    std::vector<UniformSum<T>> sums(labels_);
    for (std::size_t i = 0; i < addends.size(); ++i) {
      ++right.counts[labels[i]];
      sums[labels[i]].add(addends[i]);
    }
    for (const UniformSum<T>& sum : sums) right.sums.push_back(sum.value());
    return right;
  }

  static Answer answer_of(const AxisParts& parts) {
    Answer answer;
    for (const AxisCounts& counts : parts.counts) answer.counts.push_back(counts.elements);
    for (const Expansion& sum : parts.sum) answer.sums.push_back(value_of_sum<T>(sum));
    return answer;
  }

  static void judge(Row& row, const Answer& claimed, const Answer& right, bool exact) {
    bench::judge(row, claimed.sums, right.sums, exact);
    if (claimed.counts != right.counts) row.check = Check::wrong;
  }

  std::uint64_t labels_;
  cuda::DeviceBuffer numbers_;
};

}  // namespace

Result bench_labels(MPI_Comm communicator, const Settings& settings) {
  return measure_cases<LabelsCase, std::int64_t>(
      communicator, settings,
      {"few", "few-skewed", "few-runs", "many", "many-skewed", "many-runs"});
}

}  // namespace warpfold::bench
