/// Any bytes as a stored chunk, behind any pipeline of filters: an Error or a whole chunk, the same
/// whether a compressor is undone with the others or left and undone later.
///
/// Input: filters (1 byte), bytes of an element (1), elements of a chunk (4), mask of skipped
/// filters (1), for each filter its kind (1) and parameters (bitshuffle: bytes of an element (1),
/// elements of a block (4), compressor (1); shuffle: bytes of an element (1); n-bit, scale-offset
/// and szip: how many (1), one byte each), the stored bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuzz_input.hpp"
#include "io/chunks/chunk_decoder.hpp"
#include "io/filters/filter.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::fuzz {
namespace {

constexpr std::size_t max_filters = 4;
constexpr std::size_t max_parameters = 32;
constexpr std::size_t max_element_bytes = 16;
constexpr std::uint32_t max_elements = 1 << 14;

constexpr int kinds[] = {
    io::filter_id::deflate,      io::filter_id::shuffle, io::filter_id::fletcher32,
    io::filter_id::bitshuffle,   io::filter_id::lz4,     io::filter_id::zstd,
    io::filter_id::lzf,          io::filter_id::szip,    io::filter_id::nbit,
    io::filter_id::scale_offset, io::filter_id::blosc,   io::filter_id::blosc2};

io::Filter filter_from(FuzzInput& input) {
  io::Filter filter;
  filter.id = kinds[input.byte() % std::size(kinds)];
  filter.name = "filter";
  if (filter.id == io::filter_id::shuffle) filter.parameters = {input.byte()};
  if (filter.id == io::filter_id::bitshuffle) {
    const unsigned element_bytes = input.byte();
    const unsigned block_elements = input.u32();
    filter.parameters = {0, 4, element_bytes, block_elements, input.byte()};
  }
  if (filter.id >= io::filter_id::szip && filter.id <= io::filter_id::scale_offset) {
    filter.parameters.resize(input.byte() % max_parameters);
    for (unsigned& parameter : filter.parameters) parameter = input.byte();
  }
  return filter;
}

/// Returns the one filter that is neither a shuffle nor a checksum.
const io::Filter& compressor_of(const std::vector<io::Filter>& filters) {
  return *std::ranges::find_if(filters, [](const io::Filter& filter) {
    return filter.id != io::filter_id::shuffle && filter.id != io::filter_id::fletcher32;
  });
}

/// A chunk's bytes; none where there was an Error.
using Chunk = std::optional<std::vector<std::byte>>;

template <class Fill>
Chunk chunk_of(std::size_t bytes, Fill&& fill) {
  try {
    // The exact size lets a sanitizer see one byte too many.
    const auto out = std::make_unique<std::byte[]>(bytes);
    fill(std::span(out.get(), bytes));
    return std::vector<std::byte>(out.get(), out.get() + bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void decode(FuzzInput input) {
  const std::size_t filter_count = 1 + input.byte() % max_filters;
  const std::size_t element_bytes = 1 + input.byte() % max_element_bytes;
  const std::size_t chunk_bytes = element_bytes * (1 + input.u32() % max_elements);
  const std::uint32_t skipped = input.byte();
  std::vector<io::Filter> filters;
  while (filters.size() < filter_count) filters.push_back(filter_from(input));

  std::optional<io::ChunkDecoder> decoder;
  try {
    decoder.emplace(filters, element_bytes, chunk_bytes);
  } catch (const Error&) {
    return;
  }
  const Chunk at_once = chunk_of(chunk_bytes, [&](std::span<std::byte> out) {
    decoder->decode(input.rest(), skipped, out, "cannot decode");
  });
  if (!io::left_form(filters, element_bytes, chunk_bytes)) return;
  const Chunk in_two_steps = chunk_of(chunk_bytes, [&](std::span<std::byte> out) {
    const auto left = decoder->without_checksums(input.rest(), skipped, "cannot decode");
    const std::uint32_t nothing_else = left.compressed ? 0 : 1;
    io::ChunkDecoder({compressor_of(filters)}, element_bytes, chunk_bytes)
        .decode(left.bytes, nothing_else, out, "cannot decompress");
  });
  if (in_two_steps != at_once) std::abort();
}

}  // namespace
}  // namespace warpfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warpfold::fuzz::decode({data, size});
  return 0;
}
