#include "cuda/reduce/device_reduce.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cuda/runtime/cuda_error.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// Between two looks at the stream, which tells of failures only.
constexpr int looks_for_a_word = 4096;

}  // namespace

DeviceReduce::DeviceReduce()
    : multiprocessors_(multiprocessors()),
      state_(kernels::max_resident_reduce_blocks * multiprocessors_),
      collected_(kernels::max_collected_blocks * sizeof(kernels::PublishedReduce)) {
  clear_published();
}

DeviceReduce::~DeviceReduce() {
  if (under_way_) cudaStreamSynchronize(stream_);
}

void DeviceReduce::start(const void* elements, std::uint64_t count, ElementFormat format,
                         ReduceNeeds needs, std::uint64_t first_index, cudaStream_t stream) {
  stream_ = stream;
  needs_ = needs;
  under_way_ = count != 0;
  if (!under_way_) return;
  next_epoch();
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
                   .epoch = epoch_,
                   .collected = reinterpret_cast<kernels::PublishedReduce*>(collected_.data())},
                  stream);
}

Accumulator DeviceReduce::result() {
  Accumulator total = Accumulator::empty();
  if (!under_way_) return total;
  const auto take = [&](auto&... parts) {
    const auto take_part = [&](auto& part) {
      std::array<std::uint64_t, sizeof(part) / sizeof(std::uint64_t)> words;
      const auto offset =
          reinterpret_cast<std::byte*>(&part) - reinterpret_cast<std::byte*>(&total);
      std::size_t i = static_cast<std::size_t>(offset) / sizeof(std::uint64_t);
      for (std::uint64_t& word : words) word = awaited_word(i++);
      std::memcpy(&part, words.data(), sizeof(part));
    };
    (take_part(parts), ...);
  };
  take(total.count, total.nan_count, total.positive_infinities, total.negative_infinities,
       total.first_nan);
  if (needs_.sum) take(total.sum);
  if (needs_.absolute) take(total.absolute);
  if (needs_.squares) take(total.squares);
  if (needs_.extrema) take(total.minimum, total.maximum);
  under_way_ = false;
  total.normalize();
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

void DeviceReduce::next_epoch() {
  if (++epoch_ != 0) return;
  clear_published();
  epoch_ = 1;
}

/// Makes all published words those of epoch 0, which no reduction has.
void DeviceReduce::clear_published() {
  *published_ = {};
  const Stream stream;
  fill_bytes(collected_.data(), 0, collected_.size(), stream.get());
  stream.synchronize();
}

/// Returns word i of the Accumulator, if the reduction has published it.
std::optional<std::uint64_t> DeviceReduce::published_word(std::size_t i) const {
  kernels::PublishedWord& word = published_->word[i];
  const kernels::PublishedWord read{std::atomic_ref(word.low).load(std::memory_order_relaxed),
                                    std::atomic_ref(word.high).load(std::memory_order_relaxed)};
  return read.is_of(epoch_) ? std::optional(read.value()) : std::nullopt;
}

std::uint64_t DeviceReduce::awaited_word(std::size_t i) {
  for (;;) {
    for (int look = 0; look < looks_for_a_word; ++look)
      if (const auto word = published_word(i)) return *word;
    const cudaError_t status = cudaStreamQuery(stream_);
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      continue;
    }
    under_way_ = status == cudaSuccess;
    check(status, "the reduction on the GPU");
    if (!published_word(i)) throw Error("the reduction on the GPU ended without a result", "", "");
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
