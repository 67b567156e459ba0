/// Any bytes as a zlib stream, inflated as a GPU does it: judged as zlib judges them.
///
/// Input: bytes that the stream is to make (2, little-endian), the stream.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cuda/inflate/inflated.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpfold::cuda::inflate;
  if (size < 2) return 0;
  const Stored stored{Bytes(data + 2, data + size),
                      std::size_t{data[0]} | std::size_t{data[1]} << 8};
  const Inflated mine = inflated({stored}).front();
  const ZlibVerdict expected = by_zlib(stored);
  if (mine.is_overrun || mine.is_good(stored.stream) != expected.is_good) std::abort();
  if (expected.is_good && (mine.out != expected.out || mine.outcome.taken != expected.taken))
    std::abort();
  return 0;
}
