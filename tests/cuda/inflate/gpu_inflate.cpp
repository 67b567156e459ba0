#include <algorithm>

#include "cuda/inflate/inflate.hpp"
#include "cuda/inflate/inflated.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/gpu_test.hpp"

namespace warpfold::cuda::inflate {
namespace {

constexpr std::size_t margin = 64;
constexpr std::uint8_t untouched = 0xa5;

std::size_t room_for(std::size_t bytes) { return bytes / 16 * 16 + 16 + margin; }

/// How many streams there are to be for so many groups of a warp to take part.
std::uint64_t in_flight_of(std::uint32_t active) {
  return kernels::resident_inflate_streams() / groups * active;
}

}  // namespace

std::string why_not_inflated() { return missing_gpu(); }

std::vector<Inflated> inflated(const std::vector<Stored>& all, std::uint32_t active) {
  Bytes stored;
  std::vector<InflateStream> streams;
  std::size_t room = 0;
  for (const Stored& each : all) {
    streams.push_back({nullptr, nullptr, static_cast<std::uint32_t>(stored.size() % 4),
                       static_cast<std::uint32_t>(each.stream.size()),
                       static_cast<std::uint32_t>(each.out_bytes)});
    stored.insert(stored.end(), each.stream.begin(), each.stream.end());
    room += room_for(each.out_bytes);
  }
  const DeviceBuffer on_device(stored.size() + 4);
  const DeviceBuffer out(room + 16);
  const DeviceBuffer tables(all.size() * (sizeof(InflateStream) + sizeof(InflateOutcome)) + 8);
  std::size_t at = 0;
  std::size_t to = 0;
  for (InflateStream& stream : streams) {
    stream.words = reinterpret_cast<const std::uint32_t*>(on_device.data() + at / 4 * 4);
    stream.out = reinterpret_cast<std::uint8_t*>(out.data() + to);
    at += stream.bytes;
    to += room_for(stream.out_bytes);
  }
  const Stream stream;
  copy_to_device(on_device.data(), stored.data(), stored.size(), stream.get());
  copy_to_device(tables.data(), streams.data(), all.size() * sizeof(InflateStream), stream.get());
  fill_bytes(out.data(), untouched, room, stream.get());
  auto* const outcomes =
      reinterpret_cast<InflateOutcome*>(tables.data() + all.size() * sizeof(InflateStream));
  auto* const counters = reinterpret_cast<std::uint32_t*>(outcomes + all.size());
  fill_bytes(counters, 0, 2 * sizeof(*counters), stream.get());
  kernels::inflate_streams({.streams = reinterpret_cast<const InflateStream*>(tables.data()),
                            .outcomes = outcomes,
                            .count = static_cast<std::uint32_t>(all.size()),
                            .next = counters,
                            .refused = counters + 1},
                           in_flight_of(active), stream.get());
  const auto statuses = downloaded_array<InflateOutcome>(outcomes, all.size(), stream.get());
  const auto refused = downloaded_value<std::uint32_t>(counters + 1, stream.get());
  EXPECT_EQ(refused, std::ranges::count_if(statuses, [](const InflateOutcome& outcome) {
              return outcome.status != InflateStatus::good;
            }));
  const auto made = downloaded_array<std::uint8_t>(out.data(), room, stream.get());
  std::vector<Inflated> results;
  auto from = made.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto end = from + static_cast<std::ptrdiff_t>(all[i].out_bytes);
    const auto next = from + static_cast<std::ptrdiff_t>(room_for(all[i].out_bytes));
    results.push_back({statuses[i], Bytes(from, end), std::any_of(end, next, [](std::uint8_t byte) {
                         return byte != untouched;
                       })});
    from = next;
  }
  return results;
}

}  // namespace warpfold::cuda::inflate
