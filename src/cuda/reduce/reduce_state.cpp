#include "cuda/reduce/reduce_state.hpp"

#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {

ReduceState::ReduceState(int blocks)
    : blocks_(blocks),
      totals_(sizeof(kernels::ReduceTotals)),
      block_extrema_(extrema_bytes(blocks)) {
  const auto empty = kernels::ReduceTotals::empty();
  const Stream stream;
  copy_to_device(totals(), &empty, sizeof(empty), stream.get());
  stream.synchronize();
}

Accumulator needed_parts(const Accumulator& total, const ReduceNeeds& needs) {
  Accumulator result = Accumulator::empty();
  result.count = total.count;
  result.nan_count = total.nan_count;
  result.positive_infinities = total.positive_infinities;
  result.negative_infinities = total.negative_infinities;
  result.first_nan = total.first_nan;
  if (needs.sum) result.sum = total.sum;
  if (needs.absolute) result.absolute = total.absolute;
  if (needs.squares) result.squares = total.squares;
  if (needs.extrema) {
    result.minimum = total.minimum;
    result.maximum = total.maximum;
  }
  return result;
}

}  // namespace warpfold::cuda
