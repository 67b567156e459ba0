/// Chunks encoded for an output decode to themselves.
///
/// Input: bytes of an element (1), deflate level (1; past 9 none), 1: shuffle and 2: fletcher32
/// (1), the chunk.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuzz_input.hpp"
#include "io/chunks/chunk_decoder.hpp"
#include "io/chunks/chunk_encoder.hpp"
#include "io/filters/filter.hpp"
#include "io/filters/steps.hpp"

namespace warpfold::fuzz {
namespace {

std::vector<io::Filter> filters_of(const StorageOptions& storage, unsigned element_bytes) {
  std::vector<io::Filter> filters;
  if (storage.shuffle)
    filters.push_back({io::filter_id::shuffle, "shuffle", true, {element_bytes}});
  if (storage.zstd_level) filters.push_back({io::filter_id::zstd, "zstd", true, {}});
  if (storage.deflate_level) filters.push_back({io::filter_id::deflate, "deflate", true, {}});
  if (storage.fletcher32) filters.push_back({io::filter_id::fletcher32, "fletcher32", true, {}});
  return filters;
}

void round_trip(FuzzInput input) {
  constexpr unsigned widths[] = {1, 2, 4, 8};
  const unsigned element_bytes = widths[input.byte() % std::size(widths)];
  StorageOptions storage;
  const int level = input.byte();
  if (level <= 9) storage.deflate_level = level;
  if (level > 9 && level <= 31) storage.zstd_level = level - 9;
  const unsigned options = input.byte();
  storage.shuffle = (options & 1U) != 0;
  storage.fletcher32 = (options & 2U) != 0;
  const auto chunk = input.rest().first(input.rest().size() / element_bytes * element_bytes);
  const std::vector<io::Filter> filters = filters_of(storage, element_bytes);
  if (chunk.empty() || filters.empty()) return;

  io::ChunkEncoder encoder(storage, element_bytes);
  const io::EncodedChunk encoded = encoder.encode(chunk);
  std::vector<std::byte> decoded(chunk.size());
  const bool shuffled = io::ChunkDecoder(filters, element_bytes, chunk.size())
                            .decode(encoded.bytes, encoded.skipped_filters, decoded, "");
  if (shuffled) {
    std::vector<std::byte> unshuffled(chunk.size());
    io::unshuffle(decoded, element_bytes, unshuffled);
    decoded.swap(unshuffled);
  }
  if (!std::ranges::equal(decoded, chunk)) std::abort();
}

}  // namespace
}  // namespace warpfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warpfold::fuzz::round_trip({data, size});
  return 0;
}
