#include <cstring>

#include "io/filters/steps.hpp"

namespace warpfold::io {
namespace {

template <std::size_t element_bytes>
void interleave(const std::byte* planes, std::size_t elements, std::byte* out) {
  for (std::size_t i = 0; i < elements; ++i) {
    for (std::size_t b = 0; b < element_bytes; ++b) {
      out[i * element_bytes + b] = planes[b * elements + i];
    }
  }
}

void interleave(const std::byte* planes, std::size_t elements, std::size_t element_bytes,
                std::byte* out) {
  for (std::size_t b = 0; b < element_bytes; ++b) {
    for (std::size_t i = 0; i < elements; ++i)
      out[i * element_bytes + b] = planes[b * elements + i];
  }
}

/// Copies what lies behind the last whole element; returns the number of elements.
std::size_t copy_rest(std::span<const std::byte> bytes, std::size_t element_bytes,
                      std::span<std::byte> out) {
  const std::size_t rest = bytes.size() % element_bytes;
  const std::size_t whole = bytes.size() - rest;
  if (rest > 0) std::memcpy(out.data() + whole, bytes.data() + whole, rest);
  return whole / element_bytes;
}

class UnshuffleStep : public FilterStep {
 public:
  explicit UnshuffleStep(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    if (stored.size() > out.size()) throw DamagedBytes{"it is longer than a chunk"};
    unshuffle(stored, element_bytes_, out.first(stored.size()));
    return out.first(stored.size());
  }

 private:
  std::size_t element_bytes_;
};

}  // namespace

void shuffle(std::span<const std::byte> bytes, std::size_t element_bytes,
             std::span<std::byte> out) {
  const std::size_t elements = copy_rest(bytes, element_bytes, out);
  // One plane after the other reads a chunk element_bytes times, from cache where chunks fit it.
  for (std::size_t b = 0; b < element_bytes; ++b) {
    std::byte* const plane = out.data() + b * elements;
    for (std::size_t i = 0; i < elements; ++i) plane[i] = bytes[i * element_bytes + b];
  }
}

void unshuffle(std::span<const std::byte> bytes, std::size_t element_bytes,
               std::span<std::byte> out) {
  const std::size_t elements = copy_rest(bytes, element_bytes, out);
  switch (element_bytes) {
    case 1:
      std::memcpy(out.data(), bytes.data(), elements);
      return;
    case 2:
      return interleave<2>(bytes.data(), elements, out.data());
    case 4:
      return interleave<4>(bytes.data(), elements, out.data());
    case 8:
      return interleave<8>(bytes.data(), elements, out.data());
    default:
      return interleave(bytes.data(), elements, element_bytes, out.data());
  }
}

std::unique_ptr<FilterStep> make_unshuffle_step(std::size_t element_bytes) {
  return std::make_unique<UnshuffleStep>(element_bytes);
}

}  // namespace warpfold::io
