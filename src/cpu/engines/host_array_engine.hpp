#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/array_engine.hpp"
#include "core/numeric/field_sum.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/products/product_sum.hpp"
#include "cpu/reduce/byte_mask.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "cpu/scan/range_scanner.hpp"
#include "warpfold/core/array.hpp"

namespace warpfold::cpu {

/// Reduces, scans and sums arrays in host memory where they are, in the caller's thread.
class HostArrayEngine final : public ArrayEngine {
 public:
  HostArrayEngine();

  /// Selects the elements of the reductions that follow: those whose byte is not 0, or all where
  /// `mask` is null.
  void select(const std::uint8_t* mask) { mask_ = mask; }

  /// Returns the exact sum of a field.
  FieldSum sum(const Field& field);

  void check_memory(const void*) const override {}
  void start_reduce(const void* elements, std::uint64_t count, ElementType type, ReduceNeeds needs,
                    StreamHandle stream) override;
  Accumulator reduce_result() override { return result_; }
  void prepare_scan(const ScanSpec& spec, bool reproducible) override;
  bool needs_total(std::uint64_t) const override { return false; }
  Accumulator total(const void* input, std::uint64_t elements, StreamHandle stream) override;
  std::optional<std::uint64_t> scan(const void* input, void* output, std::uint64_t elements,
                                    const Accumulator& before, StreamHandle stream) override;

 private:
  RangeReducer& reducer_for(ElementType type, ReduceNeeds needs);

  /// Reduces the elements whose byte is not 0, or all where `mask` is null.
  Accumulator reduced(const Array& array, ReduceNeeds needs, const std::uint8_t* mask);
  template <class Word>
  void reduce_words(RangeSink& into, const Word* elements, std::uint64_t count,
                    const std::uint8_t* mask);

  const Kernels& kernels_;
  ByteMask byte_mask_;
  alignas(64) std::byte packed_[block_elements * sizeof(double)];
  const std::uint8_t* mask_ = nullptr;
  Accumulator result_ = Accumulator::empty();

  /// Reducers and product sums used so far, which come with memory of their own.
  std::map<unsigned, std::unique_ptr<RangeReducer>> reducers_;
  std::map<ElementType, std::unique_ptr<ProductSum>> product_sums_;
  std::vector<std::pair<ScanSpec, std::unique_ptr<RangeScanner>>> scanners_;
  const std::pair<ScanSpec, std::unique_ptr<RangeScanner>>* scanner_ = nullptr;
};

}  // namespace warpfold::cpu
