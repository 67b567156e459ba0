#pragma once

#include <cstdint>
#include <memory>

#include "core/numeric/field_sum.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/array.hpp"

namespace warpfold::cpu {

/// One thread's exact sums of products of elements of one type.
class ProductSum {
 public:
  virtual ~ProductSum() = default;

  /// Returns the sum of a field that has factors.
  virtual FieldSum sum(const Field& field) = 0;
};

std::unique_ptr<ProductSum> make_product_sum(const Kernels& kernels, ElementType type);

}  // namespace warpfold::cpu
