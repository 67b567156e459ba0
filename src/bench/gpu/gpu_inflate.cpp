#include "bench/gpu/gpu_inflate.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "core/layout/partition.hpp"
#include "cuda/inflate/inflate.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

using namespace cuda;

constexpr std::uint64_t vector_bytes = 16;

/// Returns the places of the streams one after the other, aligned.
std::vector<std::uint64_t> places_of(const std::vector<std::span<const std::byte>>& streams) {
  std::vector<std::uint64_t> places{0};
  for (const auto& stream : streams)
    places.push_back(round_up(places.back() + stream.size(), vector_bytes));
  return places;
}

class ChunksOnGpu {
 public:
  ChunksOnGpu(const std::vector<std::span<const std::byte>>& streams, std::uint64_t chunk_bytes,
              std::uint64_t chunks)
      : places_(places_of(streams)),
        chunk_bytes_(chunk_bytes),
        chunks_(streams.empty() ? 0 : std::min(chunks, most_chunks(chunk_bytes))),
        stored_(places_.back() + vector_bytes),
        inflated_(chunks_ * padded()),
        streams_(chunks_ * sizeof(inflate::InflateStream)),
        outcomes_(chunks_ * sizeof(inflate::InflateOutcome)),
        counters_(2 * sizeof(std::uint32_t)) {
    std::vector<inflate::InflateStream> table;
    for (std::uint64_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::uint64_t which = chunk % streams.size();
      table.push_back({reinterpret_cast<const std::uint32_t*>(stored_.data() + places_[which]),
                       reinterpret_cast<std::uint8_t*>(inflated_.data() + chunk * padded()), 0,
                       static_cast<std::uint32_t>(streams[which].size()),
                       static_cast<std::uint32_t>(chunk_bytes)});
    }
    for (std::size_t i = 0; i < streams.size(); ++i)
      copy_to_device(stored_.data() + places_[i], streams[i].data(), streams[i].size(),
                     stream_.get());
    copy_to_device(streams_.data(), table.data(), streams_.size(), stream_.get());
    stream_.synchronize();
  }

  std::uint64_t bytes() const { return chunks_ * chunk_bytes_; }

  void run() {
    if (chunks_ == 0) return;
    auto* const counters = reinterpret_cast<std::uint32_t*>(counters_.data());
    fill_bytes(counters, 0, counters_.size(), stream_.get());
    cuda::kernels::inflate_streams(
        {.streams = reinterpret_cast<const inflate::InflateStream*>(streams_.data()),
         .outcomes = reinterpret_cast<inflate::InflateOutcome*>(outcomes_.data()),
         .count = static_cast<std::uint32_t>(chunks_),
         .next = &counters[0],
         .refused = &counters[1]},
        chunks_, stream_.get());
    const auto refused = downloaded_value<std::uint32_t>(&counters[1], stream_.get());
    if (refused > 0)
      throw Error("the GPU refuses to inflate " + std::to_string(refused) + " chunks",
                  "they are damaged", "Reduce the dataset to learn which.");
  }

 private:
  /// Enough for every multiprocessor to have streams to the end; at most half of the memory.
  static std::uint64_t most_chunks(std::uint64_t chunk_bytes) {
    const std::uint64_t room = Device(current_device(), {}, 1).memory_limit() / 2;
    return std::min(2 * cuda::kernels::resident_inflate_streams(), room / chunk_bytes);
  }

  std::uint64_t padded() const { return round_up(chunk_bytes_, vector_bytes); }

  std::vector<std::uint64_t> places_;
  std::uint64_t chunk_bytes_;
  std::uint64_t chunks_;
  DeviceBuffer stored_;
  DeviceBuffer inflated_;
  DeviceBuffer streams_;
  DeviceBuffer outcomes_;
  DeviceBuffer counters_;
  Stream stream_;
};

}  // namespace

GpuInflate make_gpu_inflate(const std::vector<std::span<const std::byte>>& streams,
                            std::uint64_t chunk_bytes, std::uint64_t chunks) {
  const auto on_gpu = std::make_shared<ChunksOnGpu>(streams, chunk_bytes, chunks);
  return {on_gpu->bytes(), [on_gpu] { on_gpu->run(); }};
}

}  // namespace warpfold::bench
