#include <limits>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

#ifdef WARPFOLD_LZ4
#include <lz4.h>
#endif

namespace warpfold::io {
#ifdef WARPFOLD_LZ4
namespace {

int as_int(std::size_t bytes) {
  if (bytes > std::numeric_limits<int>::max()) throw DamagedBytes{"it has an LZ4 block of 2 GiB"};
  return static_cast<int>(bytes);
}

class Lz4Decoder : public BlockDecoder {
 public:
  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                         reinterpret_cast<char*>(out.data()), as_int(stored.size()),
                                         as_int(out.size()));
    if (made < 0) throw DamagedBytes{"its LZ4 stream is damaged"};
    return static_cast<std::size_t>(made);
  }
};

}  // namespace

std::unique_ptr<BlockDecoder> make_lz4_decoder() { return std::make_unique<Lz4Decoder>(); }
#else
std::unique_ptr<BlockDecoder> make_lz4_decoder() { return nullptr; }
#endif

}  // namespace warpfold::io
