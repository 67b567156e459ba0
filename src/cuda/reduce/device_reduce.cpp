#include "cuda/reduce/device_reduce.hpp"

#include <algorithm>
#include <atomic>

#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// Between two looks at the stream, which tells of failures only.
constexpr int looks_for_the_result = 4096;

}  // namespace

DeviceReduce::DeviceReduce()
    : multiprocessors_(multiprocessors()),
      state_(kernels::max_resident_reduce_blocks * multiprocessors_) {}

DeviceReduce::~DeviceReduce() {
  if (under_way_) cudaStreamSynchronize(stream_);
}

void DeviceReduce::start(const void* elements, std::uint64_t count, ElementFormat format,
                         ReduceNeeds needs, std::uint64_t first_index, cudaStream_t stream) {
  stream_ = stream;
  needs_ = needs;
  under_way_ = count != 0;
  if (!under_way_) return;
  ++epoch_;
  kernels::reduce({.elements = static_cast<const std::byte*>(elements),
                   .count = count,
                   .format = format,
                   .needs = needs,
                   .first_index = first_index,
                   .totals = state_.totals(),
                   .block_extrema = state_.block_extrema(),
                   .blocks = kernels::reduce_blocks(count * size_of(format.type),
                                                    resident_blocks(format.type, needs)),
                   .published = published_.on_device(),
                   .epoch = epoch_},
                  stream);
}

Accumulator DeviceReduce::result() {
  if (!under_way_) return Accumulator::empty();
  await_publication();
  under_way_ = false;
  Accumulator total = needed_parts(published_->total, needs_);
  if (needs_.sum) total.sum.normalize();
  if (needs_.absolute) total.absolute.normalize();
  if (needs_.squares) total.squares.normalize();
  return total;
}

int DeviceReduce::resident_blocks(ElementType type, const ReduceNeeds& needs) {
  const auto kind = static_cast<std::size_t>((needs.sum ? 1 : 0) + (needs.absolute ? 2 : 0) +
                                             (needs.squares ? 4 : 0) + (needs.extrema ? 8 : 0));
  int& blocks = resident_blocks_[static_cast<std::size_t>(type)][kind];
  if (blocks == 0)
    blocks =
        std::min(kernels::resident_reduce_blocks(type, needs) * multiprocessors_, state_.blocks());
  return blocks;
}

bool DeviceReduce::published() const {
  return std::atomic_ref(published_->epoch).load(std::memory_order_acquire) == epoch_;
}

void DeviceReduce::await_publication() {
  for (;;) {
    for (int look = 0; look < looks_for_the_result; ++look)
      if (published()) return;
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      continue;
    }
    under_way_ = status == cudaSuccess;
    check(status, "the reduction on the GPU");
    if (!published()) throw Error("the reduction on the GPU ended without a result", "", "");
  }
}

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
