#include <algorithm>
#include <memory>
#include <type_traits>

#include "bench/cub/cub_peers.hpp"
#include "bench/gpu/host_reference.hpp"
#include "bench/gpu/rig.hpp"
#include "bench/kernels/kernels.hpp"
#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "core/layout/partition.hpp"
#include "core/results/summarize.hpp"
#include "core/values/generator.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::ladder {
namespace {

template <class T>
using Launcher = void (*)(const T* input, std::uint64_t elements, T* output, cudaStream_t stream);

/// Returns a kernel that replaces pieces of Piece elements by their sums, launched until one is
/// left.
template <class T, std::uint64_t Piece, Launcher<T> Launch>
Variant levels(std::string name, std::string title) {
  Variant variant{{std::move(name), std::move(title), {}}, {}, {}};
  variant.scratch_bytes = [](std::uint64_t elements) {
    cuda::Scratch scratch;
    while (elements > Piece) scratch.take<T>(elements = ceil_div(elements, Piece));
    return scratch.bytes();
  };
  variant.start = [](const void* input, std::uint64_t elements, void* output, std::byte* memory,
                     cudaStream_t stream) {
    cuda::Scratch scratch(memory);
    auto* level = static_cast<const T*>(input);
    while (elements > Piece) {
      const std::uint64_t pieces = ceil_div(elements, Piece);
      T* sums = scratch.take<T>(pieces);
      Launch(level, elements, sums, stream);
      level = sums;
      elements = pieces;
    }
    Launch(level, elements, static_cast<T*>(output), stream);
  };
  return variant;
}

/// Returns a kernel whose blocks add their sums to the result.
template <class T, Launcher<T> Launch>
Variant atomics(std::string name, std::string title) {
  Variant variant{{std::move(name), std::move(title), {}}, {}, {}};
  variant.scratch_bytes = [](std::uint64_t) { return std::uint64_t{0}; };
  variant.start = [](const void* input, std::uint64_t elements, void* output, std::byte*,
                     cudaStream_t stream) {
    cuda::fill_bytes(output, 0, sizeof(T), stream);
    Launch(static_cast<const T*>(input), elements, static_cast<T*>(output), stream);
  };
  return variant;
}

Variant refused(std::string name, std::string title, std::string refusal) {
  return {{std::move(name), std::move(title), std::move(refusal)}, {}, {}};
}

template <class T>
Variant reduce_add_sync_variant() {
  const std::string name = "reduce-add-sync";
  const std::string title = "warps by __reduce_add_sync, blocks by atomicAdd";
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    if (has_reduce_add_sync()) return atomics<T, add_by_reduce_add_sync>(name, title);
    return refused(name, title, "needs sm_80 or newer, in the GPU and in the build");
  } else {
    return refused(name, title, "adds integers only");
  }
}

template <class T>
std::vector<Variant> variants_of() {
  return {
      levels<T, tree_threads, sum_interleaved_divergent<T>>(
          "interleaved-divergent", "interleaved addressing, divergent branch"),
      levels<T, tree_threads, sum_interleaved_strided<T>>(
          "interleaved-strided", "interleaved addressing, strided index: bank conflicts"),
      levels<T, tree_threads, sum_sequential<T>>("sequential", "sequential addressing"),
      levels<T, level_threads, sum_tree_level<T>>("tree-levels",
                                                  "tree in shared memory, blocks of 1024"),
      levels<T, warp_elements, sum_shuffle_level<T>>("shuffle-levels",
                                                     "warp shuffles, 32 elements a sum"),
      atomics<T, add_last_warp_syncwarp<T>>("last-warp-syncwarp",
                                            "last warp by __syncwarp, blocks by atomicAdd"),
      atomics<T, add_last_warp_shuffle<T>>("last-warp-shuffle",
                                           "last warp by __shfl_down_sync, blocks by atomicAdd"),
      atomics<T, add_last_warp_tile<T>>("last-warp-tile",
                                        "last warp by a cooperative tile, blocks by atomicAdd"),
      reduce_add_sync_variant<T>(),
      atomics<T, add_unrolled<T>>("unrolled", "64 bytes in flight a thread, resident blocks"),
  };
}

}  // namespace

std::vector<Variant> reduce_variants(ElementType type) {
  switch (type) {
    case ElementType::u32:
      return variants_of<std::uint32_t>();
    case ElementType::f32:
      return variants_of<float>();
    case ElementType::f64:
      return variants_of<double>();
    default:
      throw usage_error("the reduce ladder has no rungs for " + std::string(name_of(type)), "",
                        "Choose u32, f32 or f64.");
  }
}

}  // namespace warpfold::bench::ladder

namespace warpfold::bench {
namespace {

constexpr std::uint64_t usual_integers = std::uint64_t{1} << 28;
constexpr std::uint64_t article_integers = std::uint64_t{1} << 30;
constexpr std::uint64_t article_floats = 100'000'000;

constexpr std::uint64_t upload_bytes = std::uint64_t{16} << 20;

constexpr ReduceNeeds sum_only{true, false, false, false};

std::uint64_t elements_of(ElementType type, const Settings& settings) {
  if (settings.elements) return *settings.elements;
  if (is_floating(type)) return article_floats;
  return settings.article ? article_integers : usual_integers;
}

GeneratorSpec article_input(ElementType type, std::uint64_t elements) {
  GeneratorSpec spec;
  spec.kind = is_floating(type) ? GeneratorKind::constant : GeneratorKind::msws;
  spec.format = {type};
  spec.elements = elements;
  spec.value = 1.23;
  return spec;
}

/// One element type.
class ReduceLadder {
 public:
  ReduceLadder(Rig& rig, const Settings& settings, ElementType type)
      : rig_(rig),
        type_(type),
        elements_(elements_of(type, settings)),
        variants_(ladder::reduce_variants(type)),
        kernels_(chosen_kernels(settings.kernels, variants_, {"CUB", "fold", "copy"})) {}

  void run() {
    const std::uint64_t bytes = elements_ * size_of(type_);
    if (2 * bytes > rig_.memory_bytes())
      return rig_.add_note(group(), bytes,
                           "skipped: the GPU's memory does not hold two such arrays");
    rig_.measure([this] { return checked_candidates(); });
  }

 private:
  std::string group() const { return "ladder reduce " + std::string(name_of(type_)); }

  Row row(std::string operation, std::string kernel) const {
    return {.group = group(),
            .operation = std::move(operation),
            .kernel = std::move(kernel),
            .elements = elements_,
            .bytes = elements_ * size_of(type_),
            .useful_bytes = elements_ * size_of(type_)};
  }

  std::vector<Candidate> checked_candidates() {
    const std::uint64_t bytes = elements_ * size_of(type_);
    input_ = cuda::DeviceBuffer(bytes);
    target_ = cuda::DeviceBuffer(bytes);
    result_ = cuda::DeviceBuffer(sizeof(std::uint64_t));
    std::vector<Candidate> sums;
    for (const ladder::Variant& variant : variants_)
      if (contains(kernels_, variant.name))
        sums.push_back(variant.candidate(row("sum", variant.name), input_.data(), result_.data(),
                                         rig_.stream()));
    if (contains(kernels_, "CUB")) sums.push_back(cub());
    judge_on_exact_data(sums);
    upload_article_input();
    judge_on_article_input(sums);
    if (contains(kernels_, "fold")) sums.push_back(reduce());
    if (contains(kernels_, "copy")) sums.push_back(rig_.copy(row("copy", "copy"), target_, input_));
    return sums;
  }

  Candidate cub() {
    Candidate candidate{row("sum", "CUB")};
    if (const auto sum = cub_sum(type_)) {
      const CubRun run(sum->launch, elements_, rig_.stream());
      candidate.run = [=, this](std::uint64_t) { run(input_.data(), result_.data()); };
    } else {
      candidate.row.note = cub_description();
    }
    return candidate;
  }

  Candidate reduce() {
    Candidate candidate{row("sum", "fold")};
    candidate.row.title = "the production kernel: an exact sum";
    const auto device_reduce = std::make_shared<cuda::DeviceReduce>();
    candidate.run = [=, this](std::uint64_t) {
      device_reduce->start(input_.data(), elements_, {type_}, sum_only, 0, rig_.stream());
    };
    candidate.run(0);
    const auto sum_of = [this](const Accumulator& accumulator) {
      return summarize(accumulator, type_, {Statistic::sum}, {});
    };
    const bool right = sum_of(device_reduce->result()) == sum_of(exact_);
    candidate.row.check = right ? Check::right : Check::wrong;
    candidate.after = [device_reduce](Row&) { device_reduce->result(); };
    return candidate;
  }

  /// Checks sums on numbers whose partial sums are exact in any order: every one has to be right.
  void judge_on_exact_data(std::vector<Candidate>& sums) {
    kernels::fill(input_.data(), type_, kernels::Pattern::steps, elements_, 1, rig_.stream());
    for (Candidate& sum : judged(sums)) {
      if (sum.row.error_ulps)
        sum.row.check = *sum.row.error_ulps == 0 ? Check::right : Check::wrong;
      sum.row.error_ulps.reset();
    }
  }

  /// Integers have to be right, floats show their error.
  void judge_on_article_input(std::vector<Candidate>& sums) {
    std::vector<Check> checks;
    for (const Candidate& sum : sums) checks.push_back(sum.row.check);
    judged(sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i].row.check = std::max(sums[i].row.check, checks[i]);
  }

  /// Sets checks and errors by what the input holds now.
  std::vector<Candidate>& judged(std::vector<Candidate>& sums) {
    exact_ =
        prefix_reduces(rig_.host(), input_.data(), {type_}, sum_only, {elements_}, rig_.stream())
            .front();
    for (Candidate& sum : sums) {
      if (!sum.row.note.empty()) continue;
      rig_.poison(result_.data(), result_.size());
      sum.run(0);
      const auto bits = cuda::downloaded_value<std::uint64_t>(result_.data(), rig_.stream());
      judge_sum(sum.row, bits, type_, type_, exact_);
    }
    return sums;
  }

  void upload_article_input() {
    const auto generator = make_generator(article_input(type_, elements_));
    const std::size_t element_bytes = size_of(type_);
    const std::uint64_t piece = upload_bytes / element_bytes;
    cuda::PinnedBuffer staging(upload_bytes);
    for (std::uint64_t block = 0; block < ceil_div(elements_, piece); ++block) {
      const ElementRange range = block_range(elements_, piece, block);
      generator->fill(range, staging.span().first(range.count * element_bytes));
      cuda::copy_to_device(input_.data() + range.first * element_bytes, staging.data(),
                           range.count * element_bytes, rig_.stream());
      cuda::synchronize(rig_.stream());
    }
  }

  Rig& rig_;
  ElementType type_;
  std::uint64_t elements_;
  std::vector<ladder::Variant> variants_;
  std::vector<std::string> kernels_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer target_;
  cuda::DeviceBuffer result_;
  Accumulator exact_ = Accumulator::empty();  ///< exact result of the input
};

}  // namespace

Result ladder_reduce(MPI_Comm communicator, const Settings& settings) {
  const std::vector<std::string> all{"u32", "f32", "f64"};
  const auto types = chosen_types(chosen_names("type", settings.types, all, all), {});
  Rig rig(communicator, settings);
  for (const ElementType type : types) ReduceLadder(rig, settings, type).run();
  return rig.take_result();
}

}  // namespace warpfold::bench
