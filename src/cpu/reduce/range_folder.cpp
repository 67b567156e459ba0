#include "cpu/reduce/range_folder.hpp"

#include "cpu/chunks/decoded_blocks.hpp"
#include "cpu/reduce/float_folder.hpp"
#include "cpu/reduce/integer_folder.hpp"

namespace warpfold::cpu {
namespace {

class DecodingFolder final : public DecodingSink<RangeFolder> {
 public:
  using DecodingSink::DecodingSink;

  Accumulator take() override { return values().take(); }
};

std::unique_ptr<RangeFolder> make_value_folder(const Kernels& kernels, ElementFormat format,
                                               FoldNeeds needs) {
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<RangeFolder> {
    using Stored = decltype(element);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatFolder<Stored>>(kernels, format.order, needs);
    else
      return std::make_unique<IntegerFolder<Stored>>(kernels, format.order, needs);
  });
}

}  // namespace

std::unique_ptr<RangeFolder> make_range_folder(const Kernels& kernels, ElementFormat format,
                                               FoldNeeds needs, const Decoding& decoding) {
  if (decoding.trivial()) return make_value_folder(kernels, format, needs);
  const ElementFormat values{decoding.value_type(format.type), native_byte_order};
  return std::make_unique<DecodingFolder>(kernels, format, decoding,
                                          make_value_folder(kernels, values, needs));
}

}  // namespace warpfold::cpu
