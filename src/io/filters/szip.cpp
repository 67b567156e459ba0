#include "io/filters/steps.hpp"

#ifdef WARPFOLD_AEC
#include <libaec.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "core/layout/partition.hpp"
#endif

namespace warpfold::io {

#ifdef WARPFOLD_AEC
namespace {

constexpr std::size_t size_bytes = 4;
constexpr unsigned most_block_samples = 32;
constexpr unsigned most_line_samples = 4096;
/// Options of the filter.
constexpr unsigned samples_are_big_endian = 16;
constexpr unsigned predicts_samples = 32;

struct Szip {
  unsigned flags;        ///< libaec's
  unsigned sample_bits;  ///< libaec's, 8 where elements are taken apart
  std::size_t apart;     ///< bytes of an element that is taken apart, otherwise 1
  unsigned block_samples;
  unsigned line_samples;

  std::size_t sample_bytes() const { return sample_bits > 16 ? 4 : sample_bits > 8 ? 2 : 1; }
  std::size_t line_bytes() const { return line_samples * sample_bytes(); }
  unsigned line_blocks() const { return (line_samples + block_samples - 1) / block_samples; }
  std::size_t padded_line_bytes() const {
    return std::size_t{line_blocks()} * block_samples * sample_bytes();
  }
};

class SzipStep : public FilterStep {
 public:
  explicit SzipStep(Szip how) : how_(how) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    if (stored.size() < size_bytes) throw DamagedBytes{"it is too short for its header"};
    std::size_t bytes = 0;
    for (std::size_t i = size_bytes; i-- > 0;)
      bytes = bytes << 8 | std::to_integer<std::size_t>(stored[i]);
    if (bytes > out.size()) throw DamagedBytes{"its szip stream is longer than the chunk"};
    const std::span<std::byte> chunk = out.first(bytes);
    const bool is_padded = how_.line_bytes() != how_.padded_line_bytes();
    const std::span<std::byte> samples = how_.apart > 1 ? taken_apart(bytes) : chunk;
    if (is_padded)
      decode_lines(stored.subspan(size_bytes), samples);
    else
      decode(stored.subspan(size_bytes), samples, bytes);
    if (how_.apart > 1) unshuffle(samples, how_.apart, chunk);
    return chunk;
  }

 private:
  std::span<std::byte> taken_apart(std::size_t bytes) {
    apart_.resize(bytes);
    return apart_;
  }

  /// Leaves out what fills the last block of each line.
  void decode_lines(std::span<const std::byte> stored, std::span<std::byte> samples) {
    const std::size_t line = how_.line_bytes();
    const std::size_t padded = how_.padded_line_bytes();
    const std::size_t lines = ceil_div(samples.size(), line);
    if (lines == 0) return;
    padded_.resize(lines * padded);
    decode(stored, padded_, (lines - 1) * padded + samples.size() - (lines - 1) * line);
    for (std::size_t i = 0; i < lines; ++i)
      std::memcpy(samples.data() + i * line, padded_.data() + i * padded,
                  std::min(line, samples.size() - i * line));
  }

  /// Fills at least the first `least` bytes of `out`.
  void decode(std::span<const std::byte> stored, std::span<std::byte> out,
              std::size_t least) const {
    aec_stream stream{};
    stream.next_in = reinterpret_cast<const unsigned char*>(stored.data());
    stream.avail_in = stored.size();
    stream.next_out = reinterpret_cast<unsigned char*>(out.data());
    stream.avail_out = out.size();
    stream.bits_per_sample = how_.sample_bits;
    stream.block_size = how_.block_samples;
    stream.rsi = how_.line_blocks();
    stream.flags = how_.flags;
    if (aec_buffer_decode(&stream) != AEC_OK) throw DamagedBytes{"its szip stream is damaged"};
    if (stream.total_out < least) throw DamagedBytes{"its szip stream ends too early"};
  }

  Szip how_;
  std::vector<std::byte> apart_;
  std::vector<std::byte> padded_;
};

bool is_taken_apart(unsigned bits) { return bits == 32 || bits == 64; }

}  // namespace

/// The filter has: options, samples of a block, bits of a sample, samples of a line.
std::unique_ptr<FilterStep> make_szip_step(const Filter& filter) {
  const unsigned options = parameter(filter, 0);
  const unsigned block_samples = parameter(filter, 1);
  const unsigned bits = parameter(filter, 2);
  const unsigned line_samples = parameter(filter, 3);
  const bool is_known = block_samples >= 2 && block_samples <= most_block_samples &&
                        block_samples % 2 == 0 && line_samples >= block_samples &&
                        line_samples <= most_line_samples &&
                        ((bits >= 1 && bits <= 24) || is_taken_apart(bits));
  if (!is_known) return nullptr;
  const unsigned flags = ((options & samples_are_big_endian) != 0 ? AEC_DATA_MSB : 0U) |
                         ((options & predicts_samples) != 0 ? AEC_DATA_PREPROCESS : 0U);
  const bool apart = is_taken_apart(bits);
  return std::make_unique<SzipStep>(
      Szip{flags, apart ? 8 : bits, apart ? bits / 8 : 1, block_samples, line_samples});
}
#else
std::unique_ptr<FilterStep> make_szip_step(const Filter&) { return nullptr; }
#endif

}  // namespace warpfold::io
