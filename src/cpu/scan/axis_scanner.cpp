#include "cpu/scan/axis_scanner.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/scan/line_sum.hpp"
#include "core/scan/scan_spec.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/scan/prefix_output.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cpu {
namespace {

/// The lines that the places of a slab belong to, in the order of places.
class LinePlaces {
 public:
  explicit LinePlaces(const AxisSlab& shape) : shape_(shape) {}

  std::uint64_t line() const { return first_ + inner_; }

  void next() {
    if (++inner_ < shape_.inner) return;
    inner_ = 0;
    if (++along_ < shape_.along) return;
    along_ = 0;
    first_ += shape_.inner;
  }

 private:
  AxisSlab shape_;
  std::uint64_t first_ = 0;  ///< line of the outer index
  std::uint64_t along_ = 0;
  std::uint64_t inner_ = 0;
};

/// Elements of consecutive places.
template <class T>
struct LineBlock {
  const T* value;
  const bool* counts;
  std::size_t n;  ///< at most block_elements
};

/// Scans lines side by side.
template <class T>
class LineScan {
 public:
  virtual ~LineScan() = default;

  /// Begins `lines` lines anew.
  virtual void begin(std::uint64_t lines) = 0;

  /// Writes the prefixes of the block's elements; what doesn't count adds nothing. Returns the
  /// first whose prefix the output type can't hold, if any.
  virtual std::optional<std::size_t> scan(const LineBlock<T>& block, LinePlaces& places,
                                          std::byte* out) = 0;
};

/// Sums of floats: the true prefixes, rounded once.
template <class T, class Out>
class FloatLineSums final : public LineScan<T> {
 public:
  explicit FloatLineSums(bool exclusive) : exclusive_(exclusive) {}

  void begin(std::uint64_t lines) override {
    lines_.clear();
    lines_.resize(lines);
  }

  std::optional<std::size_t> scan(const LineBlock<T>& block, LinePlaces& places,
                                  std::byte* out) override {
    auto* prefixes = reinterpret_cast<Out*>(out);
    for (std::size_t i = 0; i < block.n; ++i, places.next()) {
      LineSum& line = lines_[places.line()];
      if (exclusive_) prefixes[i] = line.template rounded<Out>();
      if (block.counts[i]) line.add(static_cast<double>(block.value[i]));
      if (!exclusive_) prefixes[i] = line.template rounded<Out>();
    }
    return std::nullopt;
  }

 private:
  bool exclusive_;
  std::vector<LineSum> lines_;
};

/// Sums of integers.
template <class T>
class IntegerLineSums final : public LineScan<T> {
 public:
  explicit IntegerLineSums(const ScanSpec& spec)
      : output_(spec.output), exclusive_(spec.exclusive) {}

  void begin(std::uint64_t lines) override { lines_.assign(lines, 0); }

  std::optional<std::size_t> scan(const LineBlock<T>& block, LinePlaces& places,
                                  std::byte* out) override {
    for (std::size_t i = 0; i < block.n; ++i, places.next()) {
      int128& running = lines_[places.line()];
      const int128 after = running + (block.counts[i] ? int128{block.value[i]} : int128{0});
      prefixes_[i] = exclusive_ ? running : after;
      running = after;
    }
    return store_prefixes(output_, prefixes_, block.n, out);
  }

 private:
  ElementType output_;
  bool exclusive_;
  std::vector<int128> lines_;
  alignas(64) int128 prefixes_[block_elements];
};

/// Running minima or maxima: the earlier of equal elements stays; from a NaN on all are NaN.
template <class T>
class LineExtrema final : public LineScan<T> {
 public:
  explicit LineExtrema(const ScanSpec& spec)
      : output_(spec.output),
        minimum_(spec.operation == ScanOperation::min),
        exclusive_(spec.exclusive) {}

  void begin(std::uint64_t lines) override {
    lines_.assign(lines, scan_identity<T>(minimum_ ? ScanOperation::min : ScanOperation::max));
  }

  std::optional<std::size_t> scan(const LineBlock<T>& block, LinePlaces& places,
                                  std::byte* out) override {
    for (std::size_t i = 0; i < block.n; ++i, places.next()) {
      T& running = lines_[places.line()];
      const T after = block.counts[i] ? extremum(running, block.value[i]) : running;
      prefixes_[i] = exclusive_ ? running : after;
      running = after;
    }
    return store_prefixes(output_, prefixes_, block.n, out);
  }

 private:
  using Prefix = std::conditional_t<std::is_integral_v<T>, int128, double>;

  T extremum(T running, T x) const {
    const bool better = minimum_ ? x < running : x > running;
    return better || x != x ? x : running;
  }

  ElementType output_;
  bool minimum_;
  bool exclusive_;
  std::vector<T> lines_;
  alignas(64) Prefix prefixes_[block_elements];
};

template <class T>
std::unique_ptr<LineScan<T>> make_line_scan(const ScanSpec& spec) {
  if (spec.operation != ScanOperation::sum) return std::make_unique<LineExtrema<T>>(spec);
  if constexpr (std::is_integral_v<T>) {
    return std::make_unique<IntegerLineSums<T>>(spec);
  } else {
    return visit_element_type(spec.output, [&](auto out) -> std::unique_ptr<LineScan<T>> {
      if constexpr (is_floating_element<decltype(out)>)
        return std::make_unique<FloatLineSums<T, decltype(out)>>(spec.exclusive);
      else
        return nullptr;  // refused by validate()
    });
  }
}

template <class Stored, class Value>
class BlockedAxisScanner final : public AxisScanner {
 public:
  BlockedAxisScanner(const Kernels& kernels, const ScanSpec& spec, const Decoding& decoding)
      : decoder_(kernels, spec.input.order),
        decoding_(decoding),
        output_bytes_(size_of(spec.output)),
        lines_(make_line_scan<Value>(spec)) {}

  void begin(std::uint64_t lines) override { lines_->begin(lines); }

  std::optional<std::uint64_t> scan(const std::byte* in, const AxisSlab& shape,
                                    std::byte* out) override {
    std::optional<std::uint64_t> unfit;
    LinePlaces places(shape);
    const std::uint64_t n = shape.lines() * shape.along;
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - first));
      decode_block(in + first * sizeof(Stored), size);
      const auto place =
          lines_->scan({values_, counts_, size}, places, out + first * output_bytes_);
      if (place && !unfit) unfit = first + *place;
    }
    return unfit;
  }

 private:
  void decode_block(const std::byte* in, std::size_t n) {
    const Decoded<Stored>* x = decoder_.decode(in, n);
    for (std::size_t i = 0; i < n; ++i) counts_[i] = decode(decoding_, x[i], values_[i]);
  }

  BlockDecoder<Stored> decoder_;
  Decoding decoding_;
  std::size_t output_bytes_;
  std::unique_ptr<LineScan<Value>> lines_;
  alignas(64) Value values_[block_elements];
  bool counts_[block_elements];
};

}  // namespace

std::unique_ptr<AxisScanner> make_axis_scanner(const Kernels& kernels, const ScanSpec& spec,
                                               const Decoding& decoding) {
  return visit_value_type(
      spec.input.type, decoding, [&](auto stored, auto value) -> std::unique_ptr<AxisScanner> {
        return std::make_unique<BlockedAxisScanner<decltype(stored), decltype(value)>>(
            kernels, spec, decoding);
      });
}

}  // namespace warpfold::cpu
