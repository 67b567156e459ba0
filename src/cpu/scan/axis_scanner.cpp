#include "cpu/scan/axis_scanner.hpp"

#include <algorithm>

#include "cpu/chunks/chunk_values.hpp"
#include "cpu/scan/line_scan.hpp"

namespace warpfold::cpu {
namespace {

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
