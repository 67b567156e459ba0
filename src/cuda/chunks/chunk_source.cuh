#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/chunks/chunk_assembly.hpp"

namespace warpfold::cuda::kernels {

/// `count` bytes, 4 at most, at any alignment; others of the result are undefined.
template <unsigned count>
__device__ std::uint32_t load_bytes(const std::byte* bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const auto skipped = static_cast<unsigned>(address & 3);
  const std::uint32_t next = skipped + count > 4 ? words[1] : 0;
  return __funnelshift_r(words[0], next, 8 * skipped);
}

/// 16 bytes at any alignment.
__device__ inline uint4 load_vector(const std::byte* bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes);
  if (address % sizeof(uint4) == 0) return *reinterpret_cast<const uint4*>(bytes);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const auto skipped = static_cast<unsigned>(address & 3);
  const std::uint32_t second = words[1];
  const std::uint32_t third = words[2];
  const std::uint32_t fourth = words[3];
  const std::uint32_t fifth = skipped != 0 ? words[4] : 0;
  return {__funnelshift_r(words[0], second, 8 * skipped),
          __funnelshift_r(second, third, 8 * skipped), __funnelshift_r(third, fourth, 8 * skipped),
          __funnelshift_r(fourth, fifth, 8 * skipped)};
}

/// Bytes of two words in turn: of their lower halves, and of their upper ones.
__device__ inline std::uint32_t lower_bytes(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5140);
}
__device__ inline std::uint32_t upper_bytes(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7362);
}

/// Halves of two words in turn.
__device__ inline std::uint32_t lower_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ inline std::uint32_t upper_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

/// A chunk in byte planes: the first bytes of all elements, then the
/// second ones, ...
template <class Element>
class ShuffledChunk {
 public:
  __device__ ShuffledChunk(const std::byte* bytes, std::uint64_t elements)
      : bytes_(bytes), elements_(elements) {}

  __device__ Element element(std::uint32_t number) const {
    std::uint64_t bits = 0;
#pragma unroll
    for (unsigned i = 0; i < sizeof(Element); ++i)
      bits |= static_cast<std::uint64_t>(*plane(i, number)) << (8 * i);
    return static_cast<Element>(bits);
  }

  /// 4 bytes of elements of 1 or 2, `first` and those behind it.
  __device__ std::uint32_t word(std::uint32_t first) const {
    static_assert(sizeof(Element) <= 2);
    if constexpr (sizeof(Element) == 1) return load_bytes<4>(bytes_ + first);
    return lower_bytes(load_bytes<2>(plane(0, first)), load_bytes<2>(plane(1, first)));
  }

  /// 16 bytes of elements, `first` and those behind it.
  __device__ uint4 vector(std::uint32_t first) const {
    if constexpr (sizeof(Element) == 1) return load_vector(bytes_ + first);
    if constexpr (sizeof(Element) == 2) return eight_elements(first);
    if constexpr (sizeof(Element) == 4) return four_elements(first);
    return two_elements(first);
  }

 private:
  __device__ const std::byte* plane(unsigned place, std::uint32_t first) const {
    return bytes_ + place * elements_ + first;
  }

  __device__ uint4 eight_elements(std::uint32_t first) const {
    const std::uint32_t low = load_bytes<4>(plane(0, first));
    const std::uint32_t high = load_bytes<4>(plane(1, first));
    const std::uint32_t next_low = load_bytes<4>(plane(0, first + 4));
    const std::uint32_t next_high = load_bytes<4>(plane(1, first + 4));
    return {lower_bytes(low, high), upper_bytes(low, high), lower_bytes(next_low, next_high),
            upper_bytes(next_low, next_high)};
  }

  __device__ uint4 four_elements(std::uint32_t first) const {
    const std::uint32_t byte[4] = {load_bytes<4>(plane(0, first)), load_bytes<4>(plane(1, first)),
                                   load_bytes<4>(plane(2, first)), load_bytes<4>(plane(3, first))};
    const std::uint32_t low = lower_bytes(byte[0], byte[1]);
    const std::uint32_t high = lower_bytes(byte[2], byte[3]);
    const std::uint32_t next_low = upper_bytes(byte[0], byte[1]);
    const std::uint32_t next_high = upper_bytes(byte[2], byte[3]);
    return {lower_halves(low, high), upper_halves(low, high), lower_halves(next_low, next_high),
            upper_halves(next_low, next_high)};
  }

  __device__ uint4 two_elements(std::uint32_t first) const {
    std::uint32_t pair[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      pair[i] =
          lower_bytes(load_bytes<2>(plane(2 * i, first)), load_bytes<2>(plane(2 * i + 1, first)));
    return {lower_halves(pair[0], pair[1]), lower_halves(pair[2], pair[3]),
            upper_halves(pair[0], pair[1]), upper_halves(pair[2], pair[3])};
  }

  const std::byte* bytes_;
  std::uint64_t elements_;
};

/// A chunk of elements one after the other.
template <class Element>
class PlainChunk {
 public:
  __device__ explicit PlainChunk(const std::byte* bytes) : bytes_(bytes) {}

  __device__ Element element(std::uint32_t number) const {
    const std::byte* bytes = bytes_ + std::uint64_t{number} * sizeof(Element);
    if constexpr (sizeof(Element) == 8)
      return static_cast<Element>(load_bytes<4>(bytes + 4)) << 32 | load_bytes<4>(bytes);
    else
      return static_cast<Element>(load_bytes<sizeof(Element)>(bytes));
  }
  __device__ std::uint32_t word(std::uint32_t first) const {
    return load_bytes<4>(bytes_ + std::uint64_t{first} * sizeof(Element));
  }
  __device__ uint4 vector(std::uint32_t first) const {
    return load_vector(bytes_ + std::uint64_t{first} * sizeof(Element));
  }

 private:
  const std::byte* bytes_;
};

/// A chunk that was never written: the fill value everywhere.
template <class Element>
class UnwrittenChunk {
 public:
  __device__ explicit UnwrittenChunk(std::uint64_t fill) : fill_(static_cast<Element>(fill)) {}

  __device__ Element element(std::uint32_t) const { return static_cast<Element>(fill_); }
  __device__ std::uint32_t word(std::uint32_t) const { return vector(0).x; }
  __device__ uint4 vector(std::uint32_t) const {
    constexpr std::uint64_t repeated = sizeof(Element) == 1   ? 0x0101010101010101u
                                       : sizeof(Element) == 2 ? 0x0001000100010001u
                                       : sizeof(Element) == 4 ? 0x0000000100000001u
                                                              : 1u;
    const std::uint64_t bits = fill_ * repeated;
    const auto low = static_cast<std::uint32_t>(bits);
    const auto high = static_cast<std::uint32_t>(bits >> 32);
    return {low, high, low, high};
  }

 private:
  std::uint64_t fill_;
};

/// Calls `visitor` with the elements of a chunk that has `count`, as it is encoded.
template <class Element, class Visitor>
__device__ void visit_elements(const ChunkAssembly& assembly, const StagedChunk& chunk,
                               std::uint64_t count, Visitor&& visitor) {
  const std::byte* source = assembly.staged + chunk.source;
  if (chunk.encoding == ChunkEncoding::unwritten)
    visitor(UnwrittenChunk<Element>(assembly.fill));
  else if (chunk.encoding == ChunkEncoding::shuffled && sizeof(Element) > 1)
    visitor(ShuffledChunk<Element>(source, count));
  else
    visitor(PlainChunk<Element>(source));
}

/// Calls `visitor` with an unsigned integer of so many bytes, value-initialised.
template <class Visitor>
void visit_element_bytes(std::size_t element_bytes, Visitor&& visitor) {
  switch (element_bytes) {
    case 1:
      return visitor(std::uint8_t{});
    case 2:
      return visitor(std::uint16_t{});
    case 4:
      return visitor(std::uint32_t{});
    default:
      return visitor(std::uint64_t{});
  }
}

}  // namespace warpfold::cuda::kernels
