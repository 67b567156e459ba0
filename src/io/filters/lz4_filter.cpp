#include "io/filters/lz4_filter.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/files/big_endian_reader.hpp"

namespace warpfold::io {
namespace {

class Lz4FilterStep : public FilterStep {
 public:
  explicit Lz4FilterStep(std::unique_ptr<BlockDecoder> lz4) : lz4_(std::move(lz4)) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    BigEndianReader reader(stored);
    const std::uint64_t bytes = reader.u64();
    const std::size_t block_bytes = reader.u32();
    if (bytes > out.size()) throw DamagedBytes{"its LZ4 stream is longer than the chunk"};
    if (block_bytes == 0) throw DamagedBytes{"its LZ4 blocks have no bytes"};
    for (std::size_t done = 0; done < bytes; done += block_bytes) {
      decode(reader.bytes(reader.u32()), out.subspan(done, std::min(block_bytes, bytes - done)));
    }
    return out.first(bytes);
  }

 private:
  void decode(std::span<const std::byte> stored, std::span<std::byte> block) {
    if (stored.size() == block.size()) {
      std::memcpy(block.data(), stored.data(), block.size());
    } else if (lz4_->decode(stored, block) != block.size()) {
      throw DamagedBytes{"one of its LZ4 blocks is too short"};
    }
  }

  std::unique_ptr<BlockDecoder> lz4_;
};

}  // namespace

std::unique_ptr<FilterStep> make_lz4_filter_step(std::unique_ptr<BlockDecoder> lz4) {
  return std::make_unique<Lz4FilterStep>(std::move(lz4));
}

}  // namespace warpfold::io
