#pragma once

#include <algorithm>

#include "cpu/chunks/block_decoder.hpp"
#include "cpu/reduce/block_accumulator.hpp"
#include "cpu/reduce/range_reducer.hpp"

namespace warpfold::cpu {

template <class T>
class IntegerReducer final : public RangeReducer {
 public:
  IntegerReducer(const Kernels& kernels, ByteOrder order, ReduceNeeds needs)
      : decoder_(kernels, order), kernels_(kernels_of<T>(kernels)), needs_(needs) {}

  void reduce(const std::byte* elements, std::uint64_t n, const ElementIndices& indices) override {
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - first));
      reduce_block(decoder_.decode(elements + first * sizeof(T), size), size, indices.from(first));
    }
  }

  Accumulator take() override { return accumulator_.take(); }

 private:
  void reduce_block(const T* x, std::size_t n, const ElementIndices& indices) {
    Accumulator& into = accumulator_.for_next_block();
    into.count += static_cast<std::int64_t>(n);
    if (needs_.sum) into.sum.add(kernels_.sum(x, n));
    if (needs_.absolute) into.absolute.add(kernels_.absolute(x, n), 0);
    if (needs_.squares) {
      const SquareSums squares = kernels_.squares(x, n);
      into.squares.add(squares.low, 0);
      into.squares.add(squares.middle, 33);
      into.squares.add(squares.high, 64);
    }
    if (needs_.extrema) {
      const MinMax<T> range = kernels_.extrema(x, n);
      merge_extremum(into.minimum, x, n, indices, range.minimum, 0, kernels_.find);
      merge_extremum(into.maximum, x, n, indices, range.maximum, ~std::uint64_t{0}, kernels_.find);
    }
  }

  BlockDecoder<T> decoder_;
  const IntegerKernels<T>& kernels_;
  ReduceNeeds needs_;
  BlockAccumulator accumulator_;
};

}  // namespace warpfold::cpu
