#include <libdeflate.h>

#include <new>

#include "io/filters/steps.hpp"

namespace warpfold::io {
namespace {

class InflateStep : public FilterStep {
 public:
  InflateStep() : decompressor_(libdeflate_alloc_decompressor()) {
    if (!decompressor_) throw std::bad_alloc();
  }

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    std::size_t taken = 0;
    std::size_t made = 0;
    // zlib, and so HDF5, reads no further than the stream's end.
    switch (libdeflate_zlib_decompress_ex(decompressor_.get(), stored.data(), stored.size(),
                                          out.data(), out.size(), &taken, &made)) {
      case LIBDEFLATE_SUCCESS:
        return out.first(made);
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        throw DamagedBytes{"its deflate stream is longer than the chunk"};
      default:
        throw DamagedBytes{"its deflate stream is damaged"};
    }
  }

 private:
  std::unique_ptr<libdeflate_decompressor, FreedBy<libdeflate_free_decompressor>> decompressor_;
};

class DeflateCompressor : public Compressor {
 public:
  explicit DeflateCompressor(int level) : compressor_(libdeflate_alloc_compressor(level)) {
    if (!compressor_) throw std::bad_alloc();
  }

  std::size_t compress(std::span<const std::byte> bytes, std::span<std::byte> out) override {
    return libdeflate_zlib_compress(compressor_.get(), bytes.data(), bytes.size(), out.data(),
                                    out.size());
  }

 private:
  std::unique_ptr<libdeflate_compressor, FreedBy<libdeflate_free_compressor>> compressor_;
};

}  // namespace

std::unique_ptr<FilterStep> make_inflate_step() { return std::make_unique<InflateStep>(); }

std::unique_ptr<Compressor> make_deflate_compressor(int level) {
  return std::make_unique<DeflateCompressor>(level);
}

}  // namespace warpfold::io
