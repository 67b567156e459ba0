#include <new>

#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

#ifdef WARPFOLD_ZSTD
#include <zstd.h>
#endif

namespace warpfold::io {
#ifdef WARPFOLD_ZSTD
namespace {

class ZstdDecoder : public BlockDecoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

  std::size_t decode(std::span<const std::byte> stored, std::span<std::byte> out) override {
    const std::size_t made =
        ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(made) != 0) throw DamagedBytes{"its zstd stream is damaged"};
    return made;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace

std::unique_ptr<BlockDecoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }
#else
std::unique_ptr<BlockDecoder> make_zstd_decoder() { return nullptr; }
#endif

}  // namespace warpfold::io
