#include <algorithm>

#include "cuda/lz4/decoded.hpp"
#include "cuda/lz4/lz4.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/gpu_test.hpp"

namespace warpfold::cuda::lz4 {
namespace {

constexpr std::size_t margin = 64;
constexpr std::uint8_t untouched = 0xa5;

std::size_t room_for(std::size_t bytes) { return bytes / 16 * 16 + 16 + margin; }

}  // namespace

std::string why_not_decoded() { return missing_gpu(); }

/// Each block is a chunk of its own.
std::vector<DecodedBlock> decoded(const std::vector<StoredBlock>& all,
                                  std::size_t bit_element_bytes) {
  Bytes stored;
  std::size_t room = 0;
  for (const StoredBlock& each : all) {
    stored.insert(stored.end(), each.stored.begin(), each.stored.end());
    room += room_for(each.out_bytes);
  }
  const DeviceBuffer on_device(stored.size() + 1);
  const DeviceBuffer out(room);
  std::vector<Block> blocks;
  std::size_t at = 0;
  std::size_t to = 0;
  for (const StoredBlock& each : all) {
    blocks.push_back({reinterpret_cast<const std::uint8_t*>(on_device.data() + at),
                      reinterpret_cast<std::uint8_t*>(out.data() + to),
                      static_cast<std::uint32_t>(each.stored.size()),
                      static_cast<std::uint32_t>(each.out_bytes),
                      static_cast<std::uint32_t>(blocks.size()), each.form});
    at += each.stored.size();
    to += room_for(each.out_bytes);
  }
  const std::size_t words = all.size() + 2;
  const DeviceBuffer table(blocks.size() * sizeof(Block));
  const DeviceBuffer counters(words * sizeof(std::uint32_t));
  auto* const counter = reinterpret_cast<std::uint32_t*>(counters.data());
  const Stream stream;
  copy_to_device(on_device.data(), stored.data(), stored.size(), stream.get());
  copy_to_device(table.data(), blocks.data(), table.size(), stream.get());
  fill_bytes(out.data(), untouched, room, stream.get());
  fill_bytes(counters.data(), 0, counters.size(), stream.get());
  kernels::decode_lz4_blocks({.blocks = reinterpret_cast<const Block*>(table.data()),
                              .count = static_cast<std::uint32_t>(blocks.size()),
                              .bit_element_bytes = static_cast<std::uint32_t>(bit_element_bytes),
                              .next = counter,
                              .refused = {.of_chunks = counter + 2, .chunks = counter + 1}},
                             stream.get());
  const auto refusals = downloaded_array<std::uint32_t>(counter, words, stream.get());
  EXPECT_EQ(refusals[1], std::ranges::count(refusals.begin() + 2, refusals.end(), 1u));
  const auto made = downloaded_array<std::uint8_t>(out.data(), room, stream.get());
  std::vector<DecodedBlock> results;
  auto from = made.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto end = from + static_cast<std::ptrdiff_t>(all[i].out_bytes);
    const auto next = from + static_cast<std::ptrdiff_t>(room_for(all[i].out_bytes));
    const auto touched = [](std::uint8_t byte) { return byte != untouched; };
    results.push_back({refusals[i + 2] == 0, std::any_of(end, next, touched), Bytes(from, end)});
    from = next;
  }
  return results;
}

}  // namespace warpfold::cuda::lz4
