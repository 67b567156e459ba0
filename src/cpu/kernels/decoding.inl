/// Elements as they lie in files to elements the other kernels take.

static inline std::uint16_t swapped(std::uint16_t word) { return __builtin_bswap16(word); }
static inline std::uint32_t swapped(std::uint32_t word) { return __builtin_bswap32(word); }
static inline std::uint64_t swapped(std::uint64_t word) { return __builtin_bswap64(word); }

template <class Word>
static void swap_bytes(const Word* __restrict from, std::size_t n, Word* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = swapped(from[i]);
}

template <class Word>
static void unshuffle(const std::uint8_t* __restrict planes, std::size_t plane_bytes, std::size_t n,
                      Word* __restrict to) {
  constexpr std::size_t size = sizeof(Word);
  for (std::size_t i = 0; i < n; ++i) {
    Word word = 0;
    for (std::size_t byte = 0; byte < size; ++byte) {
      const std::size_t rank = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? byte : size - 1 - byte;
      word |= static_cast<Word>(static_cast<Word>(planes[byte * plane_bytes + i]) << (8 * rank));
    }
    to[i] = word;
  }
}

static void widen_f16(const std::uint16_t* __restrict from, std::size_t n, float* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t half = from[i];
    const std::uint32_t size = (half & 0x7fffu) << 13;
    // A binary32 of the same fields is 2^112 too small, its subnormals too: the product is exact.
    const float finite = __builtin_bit_cast(float, size) * 0x1p112f;
    const std::uint32_t special = 0u - static_cast<std::uint32_t>(size >= 0x0f800000u);
    const std::uint32_t value =
        (__builtin_bit_cast(std::uint32_t, finite) & ~special) | ((size | 0x7f800000u) & special);
    to[i] = __builtin_bit_cast(float, value | (half & 0x8000u) << 16);
  }
}

static void widen_bf16(const std::uint16_t* __restrict from, std::size_t n, float* __restrict to) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(from[i]) << 16);
}
