#include <cmath>
#include <limits>

#include "bench/gpu/rig.hpp"
#include "bench/kernels/kernels.hpp"
#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::ladder {
namespace {

static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));

template <class T, void (*Launch)(const Filter<T>& filter, cudaStream_t stream)>
void start(const void* input, std::uint64_t elements, const void* threshold, void* selected,
           std::uint64_t* count, cudaStream_t stream) {
  cuda::fill_bytes(count, 0, sizeof(*count), stream);
  Launch({static_cast<const T*>(input), elements, *static_cast<const T*>(threshold),
          static_cast<T*>(selected), reinterpret_cast<unsigned long long*>(count)},
         stream);
}

template <class T>
std::vector<FilterVariant> filter_variants_of() {
  return {
      {{"all", "an atomicAdd an element, of 0 or 1", {}}, start<T, filter_by_all<T>>},
      {{"kept", "an atomicAdd an element kept, which compilers make one a warp", {}},
       start<T, filter_by_atomics<T>>},
      {{"warp", "an atomicAdd a warp: __activemask, __popc, __shfl_sync", {}},
       start<T, filter_by_warps<T>>},
      {{"coalesced-group", "an atomicAdd a warp: coalesced_threads", {}},
       start<T, filter_by_coalesced_groups<T>>},
      {{"block", "an atomicAdd a block: __ballot_sync, shared memory", {}},
       start<T, filter_by_blocks<T>>},
      {{"tile", "an atomicAdd a block, sixteen elements a thread", {}},
       start<T, filter_by_tiles<T>>},
  };
}

}  // namespace

std::vector<FilterVariant> atomics_variants(ElementType type) {
  switch (type) {
    case ElementType::i32:
      return filter_variants_of<std::int32_t>();
    case ElementType::u32:
      return filter_variants_of<std::uint32_t>();
    default:
      throw usage_error("the atomics ladder has no rungs for " + std::string(name_of(type)), "",
                        "Choose i32 or u32.");
  }
}

}  // namespace warpfold::bench::ladder

namespace warpfold::bench {
namespace {

constexpr std::uint64_t usual_filtered = std::uint64_t{1} << 26;

/// Filters of one type that select a given share.
template <class T>
class FilterLadder {
 public:
  FilterLadder(Rig& rig, const Settings& settings, ElementType type, int selected_percent)
      : rig_(rig),
        type_(type),
        elements_(settings.elements.value_or(usual_filtered)),
        group_("ladder atomics " + std::string(name_of(type)) + ", " +
               std::to_string(selected_percent) + "% kept"),
        threshold_(threshold_of(selected_percent)),
        variants_(ladder::atomics_variants(type)),
        kernels_(chosen_kernels(settings.kernels, variants_, {"copy"})) {}

  void run() {
    const std::uint64_t bytes = elements_ * sizeof(T);
    if (3 * bytes > rig_.memory_bytes())
      return rig_.add_note(group_, bytes, "skipped: the GPU's memory does not hold such arrays");
    rig_.measure([this] { return checked_candidates(); });
  }

 private:
  /// Number of elements, and a sum over them that hardly two different sets share.
  struct Fingerprint {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;

    void add(T element) {
      ++count;
      const std::uint64_t bits = (static_cast<std::uint64_t>(element) + 1) * 0x9e3779b97f4a7c15;
      sum += (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9;
    }
    bool operator==(const Fingerprint&) const = default;
  };

  /// Elements are uniform over the whole range of T.
  static T threshold_of(int selected_percent) {
    const double span = std::ldexp(1.0, 8 * sizeof(T));
    const double below = span * (100 - selected_percent) / 100;
    return static_cast<T>(static_cast<double>(std::numeric_limits<T>::min()) + below);
  }

  Row row(std::string operation, std::string kernel) const {
    return {.group = group_,
            .operation = std::move(operation),
            .kernel = std::move(kernel),
            .elements = elements_,
            .bytes = elements_ * sizeof(T)};
  }

  std::vector<Candidate> checked_candidates() {
    input_ = cuda::DeviceBuffer(elements_ * sizeof(T));
    selected_ = cuda::DeviceBuffer(elements_ * sizeof(T));
    count_ = cuda::DeviceBuffer(sizeof(std::uint64_t));
    kernels::fill(input_.data(), type_, kernels::Pattern::uniform, elements_, 1, rig_.stream());
    const Fingerprint right = wanted();
    std::vector<Candidate> candidates;
    for (const ladder::FilterVariant& variant : variants_)
      if (contains(kernels_, variant.name)) candidates.push_back(checked(variant, right));
    if (contains(kernels_, "copy"))
      candidates.push_back(rig_.copy(row("copy", "copy"), selected_, input_));
    return candidates;
  }

  Candidate checked(const ladder::FilterVariant& variant, const Fingerprint& right) {
    Candidate candidate{row("filter", variant.name)};
    variant.describe(candidate.row);
    if (!variant.refusal.empty()) return candidate;
    candidate.row.useful_bytes = candidate.row.bytes + right.count * sizeof(T);
    candidate.run = [this, start = variant.start](std::uint64_t) {
      start(input_.data(), elements_, &threshold_, selected_.data(),
            reinterpret_cast<std::uint64_t*>(count_.data()), rig_.stream());
    };
    rig_.poison(count_.data(), count_.size());
    rig_.poison(selected_.data(), selected_.size());
    candidate.run(0);
    candidate.row.check = claimed() == right ? Check::right : Check::wrong;
    return candidate;
  }

  Fingerprint wanted() {
    Fingerprint fingerprint;
    for (const T element : cuda::downloaded_array<T>(input_.data(), elements_, rig_.stream()))
      if (element > threshold_) fingerprint.add(element);
    return fingerprint;
  }

  Fingerprint claimed() {
    const auto count = cuda::downloaded_value<std::uint64_t>(count_.data(), rig_.stream());
    Fingerprint fingerprint;
    if (count > elements_) return fingerprint;
    for (const T element : cuda::downloaded_array<T>(selected_.data(), count, rig_.stream()))
      fingerprint.add(element);
    return fingerprint;
  }

  Rig& rig_;
  ElementType type_;
  std::uint64_t elements_;
  std::string group_;
  T threshold_;
  std::vector<ladder::FilterVariant> variants_;
  std::vector<std::string> kernels_;
  cuda::DeviceBuffer input_;
  cuda::DeviceBuffer selected_;
  cuda::DeviceBuffer count_;
};

}  // namespace

Result ladder_atomics(MPI_Comm communicator, const Settings& settings) {
  const std::vector<std::string> types =
      chosen_names("type", settings.types, {"i32", "u32"}, {"i32"});
  Rig rig(communicator, settings);
  for (const std::string& type : types) {
    for (const int selected_percent : {10, 50, 90}) {
      if (type == "i32")
        FilterLadder<std::int32_t>(rig, settings, ElementType::i32, selected_percent).run();
      else
        FilterLadder<std::uint32_t>(rig, settings, ElementType::u32, selected_percent).run();
    }
  }
  return rig.take_result();
}

}  // namespace warpfold::bench
