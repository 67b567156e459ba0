#include "cuda/arrays/device_scan.hpp"

namespace warpfold::cuda {
namespace {

const ScanSpec& validated(const ScanSpec& spec) {
  validate(spec);
  return spec;
}

kernels::BlockView view(const ScanSpec& spec, const void* input, void* output,
                        std::uint64_t elements) {
  return {static_cast<const std::byte*>(input), static_cast<std::byte*>(output), elements,
          spec.input, spec.output};
}

}  // namespace

DeviceScan::DeviceScan(const ScanSpec& spec, bool reproducible)
    : spec_(validated(spec)), method_(make_scan_method(spec, reproducible)) {}

std::byte* DeviceScan::scratch_for(const kernels::BlockView& array) {
  const std::uint64_t bytes = method_->scratch_bytes(array.tiles());
  if (bytes > scratch_.size()) scratch_ = DeviceBuffer(bytes);
  return scratch_.data();
}

Accumulator DeviceScan::total(const void* input, std::uint64_t elements, cudaStream_t stream) {
  if (elements == 0) return Accumulator::empty();
  const kernels::BlockView array = view(spec_, input, nullptr, elements);
  return method_->total(array, scratch_for(array), stream);
}

std::optional<std::uint64_t> DeviceScan::scan(const void* input, void* output,
                                              std::uint64_t elements, const Accumulator& before,
                                              cudaStream_t stream) {
  if (elements == 0) return std::nullopt;
  const kernels::BlockView array = view(spec_, input, output, elements);
  return method_->scan(array, scratch_for(array), before, stream);
}

}  // namespace warpfold::cuda
