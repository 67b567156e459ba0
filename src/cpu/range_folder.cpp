#include "cpu/range_folder.hpp"

#include "cpu/float_folder.hpp"
#include "cpu/integer_folder.hpp"

namespace warpfold::cpu {

std::unique_ptr<RangeFolder> make_range_folder(const Kernels& kernels, ElementFormat format,
                                               FoldNeeds needs) {
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<RangeFolder> {
    using Stored = decltype(element);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatFolder<Stored>>(kernels, format.order, needs);
    else
      return std::make_unique<IntegerFolder<Stored>>(kernels, format.order, needs);
  });
}

}  // namespace warpfold::cpu
