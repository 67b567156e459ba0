#include "cpu/scan/axis_scanner.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/numeric/expansion.hpp"
#include "core/scan/line_sum.hpp"
#include "core/scan/scan_spec.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/scan/prefix_output.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cpu {
namespace {

// A LineScan scans lines in blocks of at most block_elements elements. begin() starts so many lines
// with nothing before them. across() writes the prefixes of one element of each of consecutive
// lines, along() those of consecutive elements of one line. Both return the first element whose
// prefix the output type can't hold, if any.

/// Sums of floats: the true prefixes, rounded once. A running sum is two doubles as long as they
/// hold it, from then on a LineSum.
template <class T, class Out>
class FloatLineScan {
 public:
  FloatLineScan(const Kernels& kernels, const ScanSpec& spec)
      : add_(kernels_of<T>(kernels).add_to_lines), exclusive_(spec.exclusive) {}

  void begin(std::uint64_t lines) {
    high_.assign(lines, 0.0);
    low_.assign(lines, 0.0);
    wide_.clear();
    wide_.resize(lines);
  }

  std::optional<std::size_t> across(const T* x, std::size_t n, std::uint64_t first_line,
                                    std::byte* out) {
    constexpr std::size_t vector_lines = 8;
    constexpr bool to_odd = !std::is_same_v<Out, double>;
    for (std::size_t i = 0; i < n;) {
      const std::uint64_t line = first_line + i;
      i += add_(x + i, n - i, {&high_[line], &low_[line]}, exclusive_, to_odd, prefixes_ + i);
      for (const std::size_t end = std::min(n, i + vector_lines); i < end; ++i)
        prefixes_[i] = widened(added(first_line + i, x[i]));
    }
    return store_prefixes(element_type_of<Out>(), prefixes_, n, out);
  }

  std::optional<std::size_t> along(const T* x, std::size_t n, std::uint64_t line, std::byte* out) {
    auto* const prefixes = reinterpret_cast<Out*>(out);
    for (std::size_t i = 0; i < n; ++i) prefixes[i] = added(line, x[i]);
    return std::nullopt;
  }

 private:
  /// Adds an element, and returns its prefix.
  Out added(std::uint64_t line, T x) {
    const Out before = exclusive_ ? rounded(line) : Out{};
    add(line, static_cast<double>(x));
    return exclusive_ ? before : rounded(line);
  }

  void add(std::uint64_t line, double x) {
    if (wide_[line]) return wide_[line]->add(x);
    Expansion sum = parts(line);
    const bool narrow = is_addend(x) && warpfold::add(sum, x) == 0.0 && sum.part[2] == 0.0;
    if (!narrow) return widen(line, x);
    const DoublePair pair = two_sum(sum.part[0], sum.part[1]);
    high_[line] = pair.high;
    low_[line] = pair.low;
  }

  Expansion parts(std::uint64_t line) const { return {{high_[line], low_[line], 0.0, 0.0}}; }

  void widen(std::uint64_t line, double x) {
    wide_[line] = std::make_unique<LineSum>(parts(line), false, false, false);
    wide_[line]->add(x);
    // No sum of it is exact, so that the kernel leaves the line alone.
    high_[line] = std::numeric_limits<double>::quiet_NaN();
  }

  Out rounded(std::uint64_t line) const {
    return wide_[line] ? wide_[line]->template rounded<Out>() : rounded_to<Out>(parts(line));
  }

  AddToLines<T> add_;
  bool exclusive_;
  std::vector<double> high_;
  std::vector<double> low_;
  std::vector<std::unique_ptr<LineSum>> wide_;
  alignas(64) double prefixes_[block_elements];
};

/// A scan by an Operation that takes an element on to a running value, in plain loops.
template <class T, class Operation>
class PlainLineScan {
 public:
  PlainLineScan(const Kernels&, const ScanSpec& spec, Operation operation)
      : output_(spec.output), exclusive_(spec.exclusive), operation_(operation) {}

  void begin(std::uint64_t lines) { lines_.assign(lines, operation_.identity); }

  std::optional<std::size_t> across(const T* x, std::size_t n, std::uint64_t first_line,
                                    std::byte* out) {
    Running* const running = lines_.data() + first_line;
    for (std::size_t i = 0; i < n; ++i) prefixes_[i] = taken(running[i], x[i]);
    return store_prefixes(output_, prefixes_, n, out);
  }

  std::optional<std::size_t> along(const T* x, std::size_t n, std::uint64_t line, std::byte* out) {
    for (std::size_t i = 0; i < n; ++i) prefixes_[i] = taken(lines_[line], x[i]);
    return store_prefixes(output_, prefixes_, n, out);
  }

 private:
  using Running = typename Operation::Running;

  Running taken(Running& running, T x) const {
    const Running before = running;
    running = operation_(before, x);
    return exclusive_ ? before : running;
  }

  ElementType output_;
  bool exclusive_;
  Operation operation_;
  std::vector<Running> lines_;
  alignas(64) std::conditional_t<std::is_integral_v<T>, int128, double> prefixes_[block_elements];
};

struct IntegerSum {
  using Running = int128;
  Running identity = 0;

  template <class T>
  Running operator()(Running running, T x) const {
    return running + x;
  }
};

/// The earlier of equal elements stays; from a NaN on all are NaN.
template <class T>
struct RunningExtremum {
  using Running = T;
  bool minimum;
  Running identity = scan_identity<T>(minimum ? ScanOperation::min : ScanOperation::max);

  T operator()(T running, T x) const {
    const bool better = minimum ? x < running : x > running;
    return better || x != x ? x : running;
  }
};

template <class Stored, class LineScan>
class BlockedAxisScanner final : public AxisScanner {
 public:
  template <class... Operation>
  BlockedAxisScanner(const Kernels& kernels, const ScanSpec& spec, Operation... operation)
      : decoder_(kernels, spec.input.order),
        output_bytes_(size_of(spec.output)),
        lines_(kernels, spec, operation...) {}

  void begin(std::uint64_t lines) override { lines_.begin(lines); }

  std::optional<std::uint64_t> scan(const std::byte* in, const AxisSlab& slab, const LinePart& part,
                                    std::byte* out) override {
    in_ = in;
    out_ = out;
    unfit_.reset();
    for (std::uint64_t o = 0; o < part.outer.count; ++o) {
      const std::uint64_t first = (part.outer.first + o) * slab.along * slab.inner;
      const std::uint64_t line = o * part.inner.count;
      if (slab.inner == 1)
        scan_run(&LineScan::along, first, slab.along, line, 0);
      else
        for (std::uint64_t a = 0; a < slab.along; ++a)
          scan_run(&LineScan::across, first + a * slab.inner + part.inner.first, part.inner.count,
                   line, 1);
    }
    return unfit_;
  }

 private:
  using ScanBlock = decltype(&LineScan::along);

  /// Scans consecutive elements, each of a line so many further than the one before.
  void scan_run(ScanBlock block, std::uint64_t first, std::uint64_t elements, std::uint64_t line,
                std::uint64_t line_step) {
    for (std::uint64_t done = 0; done < elements; done += block_elements) {
      const auto n =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, elements - done));
      const std::uint64_t place = first + done;
      const auto unfit = (lines_.*block)(decoder_.decode(in_ + place * sizeof(Stored), n), n,
                                         line + done * line_step, out_ + place * output_bytes_);
      if (unfit) unfit_ = std::min(unfit_.value_or(no_index), place + *unfit);
    }
  }

  BlockDecoder<Stored> decoder_;
  std::size_t output_bytes_;
  LineScan lines_;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  std::optional<std::uint64_t> unfit_;
};

template <class Stored>
std::unique_ptr<AxisScanner> make_scanner_of(const Kernels& kernels, const ScanSpec& spec) {
  using T = Decoded<Stored>;
  if (spec.operation != ScanOperation::sum) {
    using Extremum = RunningExtremum<T>;
    return std::make_unique<BlockedAxisScanner<Stored, PlainLineScan<T, Extremum>>>(
        kernels, spec, Extremum{spec.operation == ScanOperation::min});
  }
  if constexpr (std::is_integral_v<T>) {
    return std::make_unique<BlockedAxisScanner<Stored, PlainLineScan<T, IntegerSum>>>(kernels, spec,
                                                                                      IntegerSum{});
  } else {
    return visit_element_type(spec.output, [&](auto out) -> std::unique_ptr<AxisScanner> {
      using Out = decltype(out);
      if constexpr (is_floating_element<Out>)
        return std::make_unique<BlockedAxisScanner<Stored, FloatLineScan<T, Out>>>(kernels, spec);
      else
        return nullptr;  // refused by validate()
    });
  }
}

}  // namespace

std::unique_ptr<AxisScanner> make_axis_scanner(const Kernels& kernels, const ScanSpec& spec) {
  return visit_element_type(
      spec.input.type, [&](auto value) { return make_scanner_of<decltype(value)>(kernels, spec); });
}

}  // namespace warpfold::cpu
