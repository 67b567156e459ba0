#include "cpu/scan/axis_scanner.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/scan/scan_spec.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/scan/float_line_sums.hpp"
#include "cpu/scan/prefix_output.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cpu {
namespace {

/// Scans lines block by block, of at most block_elements elements each. Both return the first
/// element whose prefix the output type can't hold, if any.
template <class T>
class LineScan {
 public:
  virtual ~LineScan() = default;

  /// Begins `lines` lines anew.
  virtual void begin(std::uint64_t lines) = 0;

  /// Writes the prefixes of an element of each of consecutive lines.
  virtual std::optional<std::size_t> across(const T* x, std::size_t n, std::uint64_t first_line,
                                            std::byte* out) = 0;

  /// Writes the prefixes of consecutive elements of a line.
  virtual std::optional<std::size_t> along(const T* x, std::size_t n, std::uint64_t line,
                                           std::byte* out) = 0;
};

/// Sums of floats: the true prefixes, rounded once.
template <class T, class Out>
class FloatLineScan final : public LineScan<T> {
 public:
  FloatLineScan(const Kernels& kernels, bool exclusive) : sums_(kernels, exclusive) {}

  void begin(std::uint64_t lines) override { sums_.begin(lines); }

  std::optional<std::size_t> across(const T* x, std::size_t n, std::uint64_t first_line,
                                    std::byte* out) override {
    sums_.add_across(x, n, first_line, reinterpret_cast<Out*>(out));
    return std::nullopt;
  }

  std::optional<std::size_t> along(const T* x, std::size_t n, std::uint64_t line,
                                   std::byte* out) override {
    sums_.add_along(x, n, line, reinterpret_cast<Out*>(out));
    return std::nullopt;
  }

 private:
  FloatLineSums<T, Out> sums_;
};

/// A scan by an Operation that takes an element on to a running value, in plain loops.
template <class T, class Operation>
class PlainLineScan final : public LineScan<T> {
 public:
  PlainLineScan(const ScanSpec& spec, Operation operation)
      : output_(spec.output), exclusive_(spec.exclusive), operation_(operation) {}

  void begin(std::uint64_t lines) override { lines_.assign(lines, operation_.identity); }

  std::optional<std::size_t> across(const T* x, std::size_t n, std::uint64_t first_line,
                                    std::byte* out) override {
    Running* const running = lines_.data() + first_line;
    for (std::size_t i = 0; i < n; ++i) prefixes_[i] = taken(running[i], x[i]);
    return store_prefixes(output_, prefixes_, n, out);
  }

  std::optional<std::size_t> along(const T* x, std::size_t n, std::uint64_t line,
                                   std::byte* out) override {
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

template <class T>
std::unique_ptr<LineScan<T>> make_line_scan(const Kernels& kernels, const ScanSpec& spec) {
  if (spec.operation != ScanOperation::sum) {
    using Extremum = RunningExtremum<T>;
    return std::make_unique<PlainLineScan<T, Extremum>>(
        spec, Extremum{spec.operation == ScanOperation::min});
  }
  if constexpr (std::is_integral_v<T>) {
    return std::make_unique<PlainLineScan<T, IntegerSum>>(spec, IntegerSum{});
  } else {
    return visit_element_type(spec.output, [&](auto out) -> std::unique_ptr<LineScan<T>> {
      if constexpr (is_floating_element<decltype(out)>)
        return std::make_unique<FloatLineScan<T, decltype(out)>>(kernels, spec.exclusive);
      else
        return nullptr;  // refused by validate()
    });
  }
}

template <class Stored>
class BlockedAxisScanner final : public AxisScanner {
 public:
  BlockedAxisScanner(const Kernels& kernels, const ScanSpec& spec)
      : decoder_(kernels, spec.input.order),
        output_bytes_(size_of(spec.output)),
        lines_(make_line_scan<Decoded<Stored>>(kernels, spec)) {}

  void begin(std::uint64_t lines) override { lines_->begin(lines); }

  std::optional<std::uint64_t> scan(const std::byte* in, const AxisSlab& slab, const LinePart& part,
                                    std::byte* out) override {
    in_ = in;
    out_ = out;
    unfit_.reset();
    for (std::uint64_t o = 0; o < part.outer.count; ++o) {
      const std::uint64_t first = (part.outer.first + o) * slab.along * slab.inner;
      const std::uint64_t line = o * part.inner.count;
      if (slab.inner == 1)
        scan_run(&LineScan<Value>::along, first, slab.along, line, 0);
      else
        for (std::uint64_t a = 0; a < slab.along; ++a)
          scan_run(&LineScan<Value>::across, first + a * slab.inner + part.inner.first,
                   part.inner.count, line, 1);
    }
    return unfit_;
  }

 private:
  using Value = Decoded<Stored>;
  using ScanBlock = std::optional<std::size_t> (LineScan<Value>::*)(const Value*, std::size_t,
                                                                    std::uint64_t, std::byte*);

  /// Scans consecutive elements, each of a line so many further than the one before.
  void scan_run(ScanBlock block, std::uint64_t first, std::uint64_t elements, std::uint64_t line,
                std::uint64_t line_step) {
    for (std::uint64_t done = 0; done < elements; done += block_elements) {
      const auto n =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, elements - done));
      const std::uint64_t place = first + done;
      const auto unfit = (*lines_.*block)(decoder_.decode(in_ + place * sizeof(Stored), n), n,
                                          line + done * line_step, out_ + place * output_bytes_);
      if (unfit) unfit_ = std::min(unfit_.value_or(no_index), place + *unfit);
    }
  }

  BlockDecoder<Stored> decoder_;
  std::size_t output_bytes_;
  std::unique_ptr<LineScan<Value>> lines_;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  std::optional<std::uint64_t> unfit_;
};

}  // namespace

std::unique_ptr<AxisScanner> make_axis_scanner(const Kernels& kernels, const ScanSpec& spec) {
  return visit_element_type(spec.input.type, [&](auto value) -> std::unique_ptr<AxisScanner> {
    return std::make_unique<BlockedAxisScanner<decltype(value)>>(kernels, spec);
  });
}

}  // namespace warpfold::cpu
