/// Any bytes as a chunk of HDF5's LZ4 or bitshuffle filter, decoded as a GPU does it: what is not
/// refused is what the filter makes of it.
///
/// Input: which filter (1 byte: 0 LZ4; 1 to 4 bitshuffle of 1, 2, 4, 8 bytes an element), bytes
/// that the chunk is to make (2, little-endian), the stored bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "cuda/lz4/decoded.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::fuzz {
namespace {

using cuda::lz4::Bytes;

std::optional<Bytes> as_a_gpu(const Bytes& stored, const cuda::lz4::ChunkForm& form) {
  Bytes out(form.bytes);
  std::vector<cuda::lz4::Block> blocks(form.blocks);
  const cuda::lz4::Chunk chunk{stored.data(), out.data(),
                               static_cast<std::uint32_t>(stored.size())};
  if (!cuda::lz4::BlockList(chunk, 0, form, blocks.data()).fill()) return std::nullopt;
  for (const cuda::lz4::Block& block : blocks) {
    if (block.out_bytes == 0) continue;
    const auto made = cuda::lz4::decoded(
        {{Bytes(block.stored, block.stored + block.stored_bytes), block.out_bytes, block.form}},
        form.bit_element_bytes);
    if (made.front().is_overrun) std::abort();
    if (!made.front().is_good) return std::nullopt;
    std::ranges::copy(made.front().out, block.out);
  }
  return out;
}

std::optional<Bytes> as_the_filter(const Bytes& stored, const cuda::lz4::ChunkForm& form) {
  const bool has_planes = form.bit_element_bytes != 0;
  const auto step = io::make_filter_step(
      has_planes
          ? io::Filter{io::filter_id::bitshuffle, "", true, {0, 4, form.bit_element_bytes, 0, 2}}
          : io::Filter{io::filter_id::lz4, "", true, {}});
  Bytes out(form.bytes);
  try {
    const auto made =
        step->undo(std::as_bytes(std::span(stored)), std::as_writable_bytes(std::span(out)));
    if (made.size() != out.size()) return std::nullopt;
  } catch (const io::DamagedBytes&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace
}  // namespace warpfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpfold::fuzz;
  if (size < 3) return 0;
  const std::uint32_t which = data[0] % 5U;
  const warpfold::cuda::lz4::ChunkForm form{data[1] | std::uint32_t{data[2]} << 8, 64,
                                            which == 0 ? 0 : 1U << (which - 1)};
  const Bytes stored(data + 3, data + size);
  const std::optional<Bytes> mine = as_a_gpu(stored, form);
  if (mine && mine != as_the_filter(stored, form)) std::abort();
  return 0;
}
