#include "io/filters/filter_step.hpp"

#include <utility>

#include "io/filters/bitshuffle.hpp"
#include "io/filters/block_decoder.hpp"
#include "io/filters/steps.hpp"

namespace warpfold::io {
namespace {

class IdleStep : public FilterStep {
 public:
  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> /*out*/) override {
    return stored;
  }
};

std::unique_ptr<FilterStep> make_unshuffle(const Filter& filter) {
  const std::size_t element_bytes = parameter(filter, 0);
  return element_bytes > 0 ? make_unshuffle_step(element_bytes) : nullptr;
}

std::unique_ptr<FilterStep> make_bitshuffle(const Filter& filter) {
  using enum BitshuffleCompressor;
  const BitshuffleParameters parameters = bitshuffle_parameters(filter);
  if (parameters.element_bytes == 0 || parameters.block_elements % 8 != 0) return nullptr;
  if (parameters.compressor == none) return make_bitshuffle_step(parameters, nullptr);
  std::unique_ptr<BlockDecoder> blocks;
  if (parameters.compressor == lz4) blocks = make_block_decoder(filter_id::lz4);
  if (parameters.compressor == zstd) blocks = make_block_decoder(filter_id::zstd);
  return blocks ? make_bitshuffle_step(parameters, std::move(blocks)) : nullptr;
}

}  // namespace

std::unique_ptr<FilterStep> make_idle_step() { return std::make_unique<IdleStep>(); }

std::unique_ptr<FilterStep> make_filter_step(const Filter& filter) {
  switch (filter.id) {
    case filter_id::deflate:
      return make_inflate_step();
    case filter_id::shuffle:
      return make_unshuffle(filter);
    case filter_id::fletcher32:
      return make_fletcher32_step();
    case filter_id::szip:
      return make_szip_step(filter);
    case filter_id::nbit:
      return make_nbit_step(filter);
    case filter_id::scale_offset:
      return make_scale_offset_step(filter);
    case filter_id::lzf:
    case filter_id::blosc:
    case filter_id::blosc2:
    case filter_id::zstd:
      return make_stream_step(make_block_decoder(filter.id));
    case filter_id::lz4:
      return make_lz4_step(make_block_decoder(filter.id));
    case filter_id::bitshuffle:
      return make_bitshuffle(filter);
    default:
      return nullptr;
  }
}

std::string undecodable_filters(const std::vector<Filter>& filters) {
  std::string names;
  for (const Filter& filter : filters) {
    if (!make_filter_step(filter)) names += (names.empty() ? "" : ", ") + filter.name;
  }
  return names;
}

std::string decodable_filters() {
  std::string names = "deflate, shuffle, fletcher32, nbit, scaleoffset, bitshuffle, lzf";
  if (make_szip_step(Filter{filter_id::szip, "", true, {0, 8, 8, 8}})) names += ", szip";
  if (make_block_decoder(filter_id::lz4)) names += ", lz4";
  if (make_block_decoder(filter_id::zstd)) names += ", zstd";
  if (make_block_decoder(filter_id::blosc)) names += ", blosc";
  if (make_block_decoder(filter_id::blosc2)) names += ", blosc2";
  return names;
}

}  // namespace warpfold::io
