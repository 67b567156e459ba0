#include <limits>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

#ifdef WARPFOLD_LZF
#include <lzf.h>
#endif

namespace warpfold::io {
#ifdef WARPFOLD_LZF
namespace {

unsigned as_unsigned(std::size_t bytes) {
  if (bytes > std::numeric_limits<unsigned>::max()) throw DamagedBytes{"it has 4 GiB or more"};
  return static_cast<unsigned>(bytes);
}

class LzfDecoder : public BlockDecoder {
 public:
  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    const unsigned made = lzf_decompress(stored.data(), as_unsigned(stored.size()), out.data(),
                                         as_unsigned(out.size()));
    if (made == 0) throw DamagedBytes{"its LZF stream is damaged"};
    return made;
  }
};

}  // namespace

std::unique_ptr<BlockDecoder> make_lzf_decoder() { return std::make_unique<LzfDecoder>(); }
#else
std::unique_ptr<BlockDecoder> make_lzf_decoder() { return nullptr; }
#endif

}  // namespace warpfold::io
