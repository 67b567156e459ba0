#include "cpu/engines/host_array_engine.hpp"

#include <algorithm>

namespace warpfold::cpu {

HostArrayEngine::HostArrayEngine() : kernels_(choose_kernels()), masked_(kernels_) {}

RangeReducer& HostArrayEngine::reducer_for(ElementType type, ReduceNeeds needs) {
  auto key = static_cast<unsigned>(type);
  for (const bool need : {needs.sum, needs.absolute, needs.squares, needs.extrema})
    key = key << 1 | (need ? 1u : 0u);
  std::unique_ptr<RangeReducer>& reducer = reducers_[key];
  if (!reducer) reducer = make_range_reducer(kernels_, {type, native_byte_order}, needs);
  return *reducer;
}

Accumulator HostArrayEngine::reduced(const Array& array, ReduceNeeds needs,
                                     const std::uint8_t* mask) {
  RangeReducer& reducer = reducer_for(array.type, needs);
  masked_.reduce(reducer, array, mask);
  return reducer.take();
}

FieldSum HostArrayEngine::sum(const Field& field) {
  if (field.factors) {
    std::unique_ptr<ProductSum>& products = product_sums_[field.elements.type];
    if (!products) products = make_product_sum(kernels_, field.elements.type);
    return products->sum(field);
  }
  const Accumulator contents = reduced(field.elements, {.sum = true}, field.mask);
  return {contents.nan_count, contents.positive_infinities, contents.negative_infinities,
          contents.sum};
}

void HostArrayEngine::start_reduce(const void* elements, std::uint64_t count, ElementType type,
                                   ReduceNeeds needs, StreamHandle) {
  result_ = reduced({elements, count, type}, needs, mask_);
}

void HostArrayEngine::prepare_scan(const ScanSpec& spec, bool) {
  const auto serves = [&](const auto& known) { return known.first == spec; };
  auto found = std::ranges::find_if(scanners_, serves);
  if (found == scanners_.end())
    found = scanners_.emplace(found, spec, make_range_scanner(kernels_, spec));
  scanner_ = &*found;
}

Accumulator HostArrayEngine::total(const void* input, std::uint64_t elements, StreamHandle) {
  const ScanSpec& spec = scanner_->first;
  ReduceNeeds needs;
  needs.sum = spec.operation == ScanOperation::sum;
  needs.extrema = !needs.sum;
  return reduced({input, elements, spec.input.type}, needs, nullptr);
}

std::optional<std::uint64_t> HostArrayEngine::scan(const void* input, void* output,
                                                   std::uint64_t elements,
                                                   const Accumulator& before, StreamHandle) {
  return scanner_->second->scan(static_cast<const std::byte*>(input), elements, before,
                                static_cast<std::byte*>(output));
}

}  // namespace warpfold::cpu
