#include "cpu/engines/host_array_engine.hpp"

#include <algorithm>

namespace warpfold::cpu {

HostArrayEngine::HostArrayEngine() : kernels_(choose_kernels()), byte_mask_(kernels_) {}

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
  if (array.count > 0 && mask == nullptr)
    reducer.reduce(static_cast<const std::byte*>(array.data), array.count, {BoxIndices(), 0});
  else if (array.count > 0)
    visit_element_type(array.type, [&](auto element) {
      using Bits = Word<decltype(element)>;
      reduce_words(reducer, static_cast<const Bits*>(array.data), array.count, mask);
    });
  return reducer.take();
}

template <class Word>
void HostArrayEngine::reduce_words(RangeSink& into, const Word* elements, std::uint64_t count,
                                   const std::uint8_t* mask) {
  const BoxIndices indices;
  for (std::uint64_t first = 0; first < count; first += block_elements) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, count - first));
    const std::size_t kept = byte_mask_.look_at(mask + first, n);
    const ElementIndices places(indices, first);
    if (kept == n) {
      into.reduce(reinterpret_cast<const std::byte*>(elements + first), n, places);
    } else if (kept > 0) {
      byte_mask_.pack(elements + first, n, reinterpret_cast<Word*>(packed_));
      into.reduce(packed_, kept, places.at(byte_mask_.counts()));
    }
  }
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
