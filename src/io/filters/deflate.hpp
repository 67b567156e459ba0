#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "io/filters/filter_step.hpp"

struct libdeflate_compressor;

namespace warpfold::io {

/// Inflates streams in the zlib format (RFC 1950), by libdeflate.
std::unique_ptr<FilterStep> make_inflate_step();

/// Makes such streams; one object serves one thread.
class Deflater {
 public:
  /// `level` is 0 (stored) to 9 (smallest).
  explicit Deflater(int level);

  /// Returns the stream's bytes; 0 where `out` can't hold it.
  std::size_t deflate(std::span<const std::byte> bytes, std::span<std::byte> out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

}  // namespace warpfold::io
