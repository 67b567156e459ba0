#include <memory>
#include <type_traits>

#include "bench/gpu/array_case.hpp"
#include "cuda/histogram/device_bins.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t few_bins = 256;
constexpr std::uint64_t many_bins = 65536;

/// Equal bins of all uniform elements of a type: a power of two, so that edges are exact.
template <class T>
class HistogramCase : public ArrayCase {
 public:
  HistogramCase(Rig& rig, const Settings& settings, const std::string& operation)
      : ArrayCase(rig, settings, {"histogram", operation, element_type_of<T>(), "CUB"}),
        count_(operation == "few" ? few_bins : many_bins) {}

 private:
  static constexpr double first = std::is_integral_v<T> ? -0x1p31 : 0.0;
  static constexpr double range = std::is_integral_v<T> ? 0x1p32 : 1.0;

  using Counts = std::vector<std::uint64_t>;

  void prepare(const Part& part) override {
    constexpr ElementType type = element_type_of<T>();
    const Counts right = counts_of(elements<T>(part));
    const HistogramBins bins(equal_edges(first, first + range, count_), type);
    const auto on_device = std::make_shared<cuda::DeviceBins>(type, bins.keys());
    add(part, part.bytes(),
        {.name = "warpfold",
         .run =
             [=, this](std::uint64_t launch) {
               on_device->clear(stream());
               on_device->count(part.at(launch), part.elements, {type}, nullptr, stream());
             },
         .check =
             [&](Row& row) {
               cuda::synchronize(stream());
               judge(row, bins.by_edges(on_device->counts()).bins, right);
             }});
    add_cub(part, part.bytes(), cub_histogram(type, static_cast<int>(count_), first, first + range),
            count_ * sizeof(std::uint32_t), [&](Row& row, const std::byte* counters) {
              const auto counts = cuda::downloaded_array<std::uint32_t>(counters, count_, stream());
              judge(row, {counts.begin(), counts.end()}, right);
            });
  }

  Counts counts_of(const std::vector<T>& elements) const {
    Counts counts(count_);
    const double scale = static_cast<double>(count_) / range;
    for (const T element : elements)
      ++counts[static_cast<std::size_t>((static_cast<double>(element) - first) * scale)];
    return counts;
  }

  static void judge(Row& row, const Counts& found, const Counts& right) {
    row.check = found == right ? Check::right : Check::wrong;
  }

  std::uint64_t count_;
};

}  // namespace

Result bench_histogram(MPI_Comm communicator, const Settings& settings) {
  return measure_cases<HistogramCase, std::int32_t>(communicator, settings, {"few", "many"});
}

}  // namespace warpfold::bench
