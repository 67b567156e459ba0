#include <algorithm>
#include <bit>
#include <memory>

#include "bench/gpu/array_case.hpp"
#include "bench/gpu/exact_answers.hpp"
#include "cuda/axis/axis_reduce.hpp"
#include "cuda/axis/axis_scan.hpp"
#include "cuda/chunks/chunk_scatter.hpp"
#include "cuda/staging/wide_elements.hpp"

namespace warpfold::bench {
namespace {

using cuda::DeviceBuffer;
using cuda::Scratch;

/// Matrices: of this many columns where lines run along the first axis, as maps of a series have
/// them, or of lines of this length along the last.
constexpr std::uint64_t most_columns = std::uint64_t{1} << 18;
constexpr std::uint64_t most_along_last = 1024;

/// Returns the matrix, at most of so many elements.
AxisSlab shape_of(bool first_axis, std::uint64_t elements) {
  if (first_axis) {
    const std::uint64_t columns = std::clamp<std::uint64_t>(elements / 16, 1, most_columns);
    return {.outer = 1, .along = elements / columns, .inner = columns};
  }
  const std::uint64_t along = std::bit_floor(std::min(elements, most_along_last));
  return {.outer = elements / along, .along = along, .inner = 1};
}

/// A matrix as the one chunk of a slab, so that the lines along its last axis become columns.
class Transposition {
 public:
  Transposition(const AxisSlab& shape, std::size_t element_bytes, cudaStream_t stream)
      : element_bytes_(element_bytes),
        chunk_(sizeof(StagedChunk)),
        transposed_(shape.elements() * element_bytes) {
    const StagedChunk whole;
    cuda::copy_to_device(chunk_.data(), &whole, sizeof(whole), stream);
    cuda::synchronize(stream);
    grid_.dimensions = 2;
    grid_.extent[0] = grid_.chunk_extent[0] = shape.outer;
    grid_.extent[1] = grid_.chunk_extent[1] = shape.along;
    target_.stride[0] = 1;
    target_.stride[1] = shape.outer;
    target_.elements = shape.elements();
  }

  const std::byte* start(const std::byte* elements, cudaStream_t stream) const {
    cuda::kernels::scatter_chunks({.grid = grid_,
                                   .target = target_,
                                   .chunks = reinterpret_cast<const StagedChunk*>(chunk_.data()),
                                   .count = 1,
                                   .staged = elements,
                                   .elements = transposed_.data(),
                                   .element_bytes = element_bytes_,
                                   .fill = 0},
                                  stream);
    return transposed_.data();
  }

 private:
  std::size_t element_bytes_;
  ChunkGrid grid_;
  ChunkTarget target_;
  DeviceBuffer chunk_;
  DeviceBuffer transposed_;
};

/// Sums of columns, as an AxisReduceEngine makes them of a slab. Elements are such that none
/// spills.
class ColumnSums {
 public:
  ColumnSums(ElementType wide, std::uint64_t elements, std::uint64_t outputs) {
    reduce_.count = elements;
    reduce_.wide = wide;
    reduce_.needs = sum_only;
    reduce_.outputs = outputs;
    reduce_.groups = std::max<std::uint64_t>(
        std::min(elements / 8, cuda::kernels::max_axis_threads) / outputs, 1);
    Scratch counter;
    take_arrays(counter);
    memory_ = DeviceBuffer(counter.bytes());
    Scratch scratch(memory_.data());
    take_arrays(scratch);
  }

  void start(const std::byte* wide, cudaStream_t stream) {
    reduce_.elements = wide;
    cuda::fill_bytes(reduce_.status, 0, sizeof(*reduce_.status), stream);
    cuda::kernels::clear_columns(reduce_.columns, columns(), stream);
    cuda::kernels::reduce_columns(reduce_, stream);
    cuda::kernels::merge_columns(reduce_, stream);
    for (std::uint64_t first = 0; first < reduce_.outputs;
         first += cuda::kernels::max_merging_threads)
      cuda::kernels::expand_columns(reduce_, first, stream);
  }

  /// Returns nothing if something spilled.
  template <class T>
  std::vector<SumOf<T>> values(cudaStream_t stream) const {
    const auto status =
        cuda::downloaded_value<cuda::kernels::AxisReduceStatus>(reduce_.status, stream);
    std::vector<SumOf<T>> values;
    if (status.spilled != 0 || status.stopped != 0) return values;
    for (const cuda::kernels::ColumnSum& sum : cuda::downloaded_array<cuda::kernels::ColumnSum>(
             reduce_.columns.sum, reduce_.outputs, stream))
      values.push_back(value_of_sum<T>(reinterpret_cast<const Expansion&>(sum)));
    return values;
  }

 private:
  static constexpr ReduceNeeds sum_only{true, false, false, false};

  std::uint64_t columns() const { return reduce_.outputs * reduce_.groups; }

  void take_arrays(Scratch& scratch) {
    reduce_.columns = {.counts = scratch.take<AxisCounts>(columns()),
                       .elements = scratch.take<std::uint64_t>(columns()),
                       .sum = scratch.take<cuda::kernels::ColumnSum>(columns()),
                       .absolute = nullptr,
                       .squares = nullptr,
                       .minimum = nullptr,
                       .maximum = nullptr,
                       .first_nan = scratch.take<std::uint64_t>(columns()),
                       .places = scratch.take<cuda::kernels::ColumnPlace>(columns())};
    reduce_.spills = scratch.take<AxisSpill>(cuda::kernels::axis_spill_capacity(sum_only, false));
    reduce_.status = scratch.take<cuda::kernels::AxisReduceStatus>(1);
  }

  cuda::kernels::AxisReduce reduce_{};
  DeviceBuffer memory_;
};

/// Inclusive prefix sums of lines, as an AxisScanEngine makes them of a slab.
class LinePrefixes {
 public:
  LinePrefixes(ElementType wide, ElementType output, const AxisSlab& shape)
      : prefixes_(shape.elements() * size_of(output)) {
    scan_ = {.wide = wide,
             .shape = shape,
             .lines = shape.lines(),
             .segments = cuda::kernels::segments_of(shape),
             .output = output,
             .prefixes = prefixes_.data()};
    Scratch counter;
    take_arrays(counter);
    memory_ = DeviceBuffer(counter.bytes());
    Scratch scratch(memory_.data());
    take_arrays(scratch);
  }

  void start(const std::byte* wide, cudaStream_t stream) {
    scan_.elements = wide;
    cuda::kernels::begin_lines(scan_, stream);
    cuda::fill_bytes(scan_.inexact, 0, scan_.lines * sizeof(bool), stream);
    cuda::fill_bytes(scan_.status, 0, sizeof(*scan_.status), stream);
    cuda::kernels::scan_lines(scan_, stream);
  }

  std::byte* data() const { return prefixes_.data(); }

 private:
  void take_arrays(Scratch& scratch) {
    const std::uint64_t state = cuda::kernels::state_bytes(scan_.operation, scan_.wide);
    scan_.before = scratch.take<std::byte>(scan_.lines * state);
    scan_.after = scratch.take<std::byte>(scan_.lines * state);
    scan_.segment_states = scratch.take<std::byte>(cuda::kernels::max_segments() * state);
    scan_.inexact = scratch.take<bool>(scan_.lines);
    scan_.status = scratch.take<cuda::kernels::AxisScanStatus>(1);
  }

  cuda::kernels::AxisScan scan_{};
  DeviceBuffer prefixes_;
  DeviceBuffer memory_;
};

template <class T>
class AxesCase : public ArrayCase {
 public:
  AxesCase(Rig& rig, const Settings& settings, const std::string& operation)
      : ArrayCase(rig, settings, {"axes", operation, element_type_of<T>(), "CUB", 9}),
        scans_(operation.starts_with("scan")),
        first_axis_(operation.ends_with("first")) {}

 private:
  using Sum = SumOf<T>;

  void prepare(const Part& all) override {
    const AxisSlab shape = shape_of(first_axis_, all.elements);
    Part part = all;
    part.elements = shape.elements();
    const auto wide = std::make_shared<cuda::WideElements>(
        cuda::WideningPlan{.format = {type}, .decoding = {}, .slab_elements = part.elements});
    if (scans_)
      add_scans(part, shape, wide);
    else
      add_sums(part, shape, wide);
  }

  void add_sums(const Part& part, const AxisSlab& shape,
                const std::shared_ptr<cuda::WideElements>& wide) {
    const std::vector<Sum> right = line_sums(elements<T>(part), shape);
    const auto sums = std::make_shared<ColumnSums>(wide->type(), part.elements, shape.lines());
    const auto transposition =
        first_axis_ ? nullptr : std::make_shared<Transposition>(shape, sizeof(T), stream());
    add(part, part.bytes(),
        {.name = "warpfold",
         .run =
             [=, this](std::uint64_t launch) {
               const std::byte* columns = part.at(launch);
               if (transposition) columns = transposition->start(columns, stream());
               sums->start(wide->widen(columns, part.elements, {}, stream()), stream());
             },
         .check = [&](Row& row) { judge(row, sums->values<T>(stream()), right, true); }});
    if (!first_axis_) add_cub_lines(part, part.bytes(), cub_line_sums(type, shape.along), right);
  }

  void add_scans(const Part& part, const AxisSlab& shape,
                 const std::shared_ptr<cuda::WideElements>& wide) {
    const std::uint64_t useful_bytes = part.elements * (sizeof(T) + sizeof(Sum));
    const std::vector<Sum> right = line_prefixes(elements<T>(part), shape);
    const auto prefixes =
        std::make_shared<LinePrefixes>(wide->type(), element_type_of<Sum>(), shape);
    add(part, useful_bytes,
        {.name = "warpfold",
         .run =
             [=, this](std::uint64_t launch) {
               prefixes->start(wide->widen(part.at(launch), part.elements, {}, stream()), stream());
             },
         .check = [&](Row& row) { judge(row, downloaded(prefixes->data(), right), right, true); }});
    if (!first_axis_)
      add_cub_lines(part, useful_bytes, cub_line_prefixes(type, shape.along), right);
  }

  void add_cub_lines(const Part& part, std::uint64_t useful_bytes, const CubLaunch& launch,
                     const std::vector<Sum>& right) {
    add_cub(part, useful_bytes, launch, right.size() * sizeof(Sum),
            [&](Row& row, const std::byte* output) {
              judge(row, downloaded(output, right), right, false);
            });
  }

  /// Returns as many sums as are right.
  std::vector<Sum> downloaded(const std::byte* sums, const std::vector<Sum>& right) const {
    return cuda::downloaded_array<Sum>(sums, right.size(), stream());
  }

  static constexpr ElementType type = element_type_of<T>();

  bool scans_;
  bool first_axis_;
};

}  // namespace

Result bench_axes(MPI_Comm communicator, const Settings& settings) {
  return measure_cases<AxesCase, std::int32_t>(communicator, settings,
                                               {"first", "last", "scan-first", "scan-last"});
}

}  // namespace warpfold::bench
