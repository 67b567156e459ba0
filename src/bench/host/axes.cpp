#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/host/host_benchmark.hpp"
#include "core/engine/backend.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/machine/thread_pool.hpp"

namespace warpfold::bench::host {
namespace {

/// Bytes that the pipeline reads at a time, and reduces while they are in the cache.
constexpr std::uint64_t slab_bytes = 1 << 20;

/// A slab as [outer][along][inner], row-major, of which `along` is reduced.
struct Shape {
  const char* label;
  std::uint64_t along;
  std::uint64_t inner;  ///< 0: all that there is room for

  /// Returns the largest that fits into `elements`.
  std::uint64_t inner_of(std::uint64_t elements) const {
    return inner == 0 ? elements / along : inner;
  }
  std::uint64_t outer_of(std::uint64_t elements) const {
    return elements / along / inner_of(elements);
  }
};

constexpr Shape shapes[] = {
    {"last axis, lines of 10", 10, 1},       {"last axis, lines of 64", 64, 1},
    {"last axis, lines of 100", 100, 1},     {"last axis, lines of 1000", 1000, 1},
    {"last axis, lines of 10000", 10000, 1}, {"middle axis, 1000 x 3", 1000, 3},
    {"middle axis, 100 x 10", 100, 10},      {"middle axis, 100 x 100", 100, 100},
    {"leading axis, 10 rows", 10, 0},        {"leading axis, 32 rows", 32, 0}};

StagedChunks slab_of(const Shape& shape, std::uint64_t elements,
                     const std::vector<StagedChunk>& chunks) {
  const std::uint64_t inner = shape.inner_of(elements);
  const std::uint64_t outer = shape.outer_of(elements);
  const std::uint64_t extent[] = {outer, shape.along, inner};
  const std::uint64_t stride[] = {inner, outer * inner, 1};
  StagedChunks slab;
  slab.grid.dimensions = 3;
  for (int d = 0; d < 3; ++d) {
    slab.grid.extent[d] = slab.grid.chunk_extent[d] = extent[d];
    slab.target.stride[d] = stride[d];
  }
  slab.target.elements = outer * shape.along * inner;
  slab.chunks = chunks;
  return slab;
}

class HostAxes {
 public:
  explicit HostAxes(const Setup& setup)
      : runs_(setup.runs),
        slabs_(std::max<std::uint64_t>(
            1, setup.bytes / slab_bytes / static_cast<std::uint64_t>(setup.threads))),
        pool_(setup.threads),
        backend_(cpu::make_backend(setup.threads, setup.kernels)) {}

  void run() {
    print_heading("flat");
    run_type<double>(ElementType::f64);
    run_type<float>(ElementType::f32);
    run_type<std::int32_t>(ElementType::i32);
  }

 private:
  template <class T>
  void run_type(ElementType type) {
    const std::uint64_t elements = slab_bytes / sizeof(T);
    const StagingPlan plan{{type}, {}, elements, 0, Staging::run, pool_.threads()};
    const auto flat = backend_->make_reduce_engine(plan, sum_only);
    const auto axes = backend_->make_axis_reduce_engine(plan, {sum_only, elements});
    for (int thread = 0; thread < plan.threads; ++thread) {
      fill<T>(flat->take(thread).memory, Data::uniform);
      fill<T>(axes->take(thread).memory, Data::uniform);
    }
    const std::string name(warpfold::name_of(type));
    std::vector<Candidate> candidates{
        candidate(name + " flat", [&] { reduce_flat(*flat, elements); })};
    for (const Shape& shape : shapes)
      candidates.push_back(
          candidate(name + ' ' + shape.label, [&] { reduce_axis(*axes, shape, elements); }));
    const auto flat_half = backend_->make_reduce_engine(masked<T>(plan), sum_only);
    const auto axes_half = backend_->make_axis_reduce_engine(masked<T>(plan), {sum_only, elements});
    for (int thread = 0; thread < plan.threads; ++thread) {
      fill<T>(flat_half->take(thread).memory, Data::uniform);
      fill<T>(axes_half->take(thread).memory, Data::uniform);
    }
    candidates.push_back(
        candidate(name + " half left out, flat", [&] { reduce_flat(*flat_half, elements); }));
    for (const Shape* shape : {&shapes[3], &shapes[9]})
      candidates.push_back(candidate(name + " half, " + shape->label,
                                     [&, shape] { reduce_axis(*axes_half, *shape, elements); }));
    measure_and_print(std::move(candidates),
                      slabs_ * slab_bytes * static_cast<std::uint64_t>(plan.threads), runs_);
  }

  /// Returns the plan with half of the elements left out, here and there.
  template <class T>
  static StagingPlan masked(StagingPlan plan) {
    plan.decoding.values.minimum = ordered_key(static_cast<T>(std::is_integral_v<T> ? 5e5 : 0.5));
    return plan;
  }

  void reduce_flat(ReduceEngine& engine, std::uint64_t elements) {
    pool_.parallel_for(static_cast<std::size_t>(engine.threads()), [&](std::size_t thread, int) {
      const Ticket ticket = engine.take(static_cast<int>(thread));
      for (std::uint64_t i = 0; i < slabs_; ++i)
        engine.submit(ticket, staged_run({}, {0, elements}, i * elements));
    });
    sink_ = static_cast<std::uint64_t>(engine.finish().count);
  }

  /// Outputs are complete with a slab, but along the leading axis.
  void reduce_axis(AxisReduceEngine& engine, const Shape& shape, std::uint64_t elements) {
    const StagedChunks whole_slab = slab_of(shape, elements, whole_);
    const std::uint64_t outputs = whole_slab.target.elements / shape.along;
    const bool leading = shape.inner == 0;
    pool_.parallel_for(static_cast<std::size_t>(engine.threads()), [&](std::size_t number, int) {
      const auto thread = static_cast<int>(number);
      const Ticket ticket = engine.take(thread);
      StagedChunks slab = whole_slab;
      for (std::uint64_t i = 0; i < slabs_; ++i) {
        if (i == 0 || !leading) engine.begin(thread, outputs);
        slab.indices.first = leading ? i * shape.along : 0;
        engine.submit(ticket, slab);
        if (i + 1 == slabs_ || !leading) sink_ = engine.finish(thread).counts.size();
      }
    });
  }

  static constexpr ReduceNeeds sum_only{true, false, false, false};

  int runs_;
  std::uint64_t slabs_;  ///< slabs per thread
  cpu::ThreadPool pool_;
  std::unique_ptr<Backend> backend_;
  std::vector<StagedChunk> whole_ = {{}};
  std::atomic<std::uint64_t> sink_ = 0;
};

}  // namespace

void bench_axes(const Setup& setup) { HostAxes(setup).run(); }

}  // namespace warpfold::bench::host
