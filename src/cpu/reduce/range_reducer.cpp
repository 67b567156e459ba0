#include "cpu/reduce/range_reducer.hpp"

#include "cpu/chunks/decoded_blocks.hpp"
#include "cpu/reduce/float_reducer.hpp"
#include "cpu/reduce/integer_reducer.hpp"

namespace warpfold::cpu {
namespace {

class DecodingReducer final : public DecodingSink<RangeReducer> {
 public:
  using DecodingSink::DecodingSink;

  Accumulator take() override { return values().take(); }
};

std::unique_ptr<RangeReducer> make_value_reducer(const Kernels& kernels, ElementFormat format,
                                                 ReduceNeeds needs) {
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<RangeReducer> {
    using Stored = decltype(element);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatReducer<Stored>>(kernels, format.order, needs);
    else
      return std::make_unique<IntegerReducer<Stored>>(kernels, format.order, needs);
  });
}

}  // namespace

std::unique_ptr<RangeReducer> make_range_reducer(const Kernels& kernels, ElementFormat format,
                                                 ReduceNeeds needs, const Decoding& decoding) {
  if (decoding.trivial()) return make_value_reducer(kernels, format, needs);
  const ElementFormat values{decoding.value_type(format.type), native_byte_order};
  return std::make_unique<DecodingReducer>(kernels, format, decoding,
                                           make_value_reducer(kernels, values, needs));
}

}  // namespace warpfold::cpu
