#pragma once

#include <cstdint>

#include "cuda/inflate/words.hpp"

namespace warpfold::cuda::inflate {

/// Reads a stream's bits from the first on, the lowest of a byte first. Bits beyond its words are
/// anything.
///
/// The next bits are kept in two words, from bit 1 on: so masked, the lower one is the offset in
/// bytes of an entry in a table of 16-bit ones.
template <class Warp>
class BitReader {
 public:
  /// Begins at a byte of `count` words.
  WARPFOLD_WARP_CODE void start(const std::uint32_t* words, std::uint32_t count,
                                std::uint32_t byte) {
    words_ = words;
    count_ = count;
    next_ = byte / 4 + 2;
    ahead0_ = load(next_ - 2);
    ahead1_ = load(next_ - 1);
    low_ = high_ = 0;
    kept_ = 1;
    refill();
    drop(byte % 4 * 8);
    refill();
  }

  /// Provides for 31 bits to be taken.
  WARPFOLD_WARP_CODE void refill() {
#ifdef __CUDACC__
    // Lanes whose groups need no word don't wait for those that do: predicates, no branch. The word
    // ahead is moved by an `or` with what is 0 then: a plain move would be put behind the load, and
    // wait for it.
    asm volatile(
        "{\n"
        "  .reg .pred empty, more;\n"
        "  .reg .b32 full, lower;\n"
        "  .reg .b64 from;\n"
        "  and.b32 full, %4, 32;\n"
        "  setp.eq.u32 empty, full, 0;\n"
        "  setp.lt.and.u32 more, %5, %6, empty;\n"
        "  mad.wide.u32 from, %5, 4, %7;\n"
        "  shf.l.wrap.b32 lower, 0, %2, %4;\n"
        "  @empty or.b32 %0, %0, lower;\n"
        "  @empty shf.l.wrap.b32 %1, %2, 0, %4;\n"
        "  @empty or.b32 %2, %3, full;\n"
        "  @more ld.global.nc.u32 %3, [from];\n"
        "  @empty add.u32 %4, %4, 32;\n"
        "  @empty add.u32 %5, %5, 1;\n"
        "}\n"
        : "+r"(low_), "+r"(high_), "+r"(ahead0_), "+r"(ahead1_), "+r"(kept_), "+r"(next_)
        : "r"(count_), "l"(words_));
#else
    if ((kept_ & 32) != 0) return;
    low_ |= ahead0_ << (kept_ & 31);
    high_ = shifted_left(ahead0_, 0, kept_);
    kept_ += 32;
    ahead0_ = ahead1_;
    ahead1_ = load(next_);
    ++next_;
#endif
  }

  /// Returns the next bits, 31 of them after refill().
  WARPFOLD_WARP_CODE std::uint32_t peek() const { return low_ >> 1; }

  /// Drops as many bits as the lower 5 bits of `count` say; bit 5 is 0, those above are anything.
  WARPFOLD_WARP_CODE void drop(std::uint32_t count) {
    low_ = shifted_right(low_, high_, count);
    high_ = shifted_right(high_, 0, count);
    kept_ -= count;
  }

  /// Takes so many bits, fewer than 32.
  WARPFOLD_WARP_CODE std::uint32_t take(std::uint32_t count) {
    const std::uint32_t bits = peek() & ((1U << count) - 1);
    drop(count);
    return bits;
  }

  /// Counts the bits that were taken since the first word.
  WARPFOLD_WARP_CODE std::uint32_t used() const { return 32 * (next_ - 2) - ((kept_ & 63) - 1); }

  /// Returns where a lane is.
  WARPFOLD_WARP_CODE BitReader of(std::uint32_t lane) const {
    BitReader reader;
    reader.words_ = Warp::shuffle(words_, lane);
    reader.count_ = Warp::shuffle(count_, lane);
    reader.next_ = Warp::shuffle(next_, lane);
    reader.ahead0_ = Warp::shuffle(ahead0_, lane);
    reader.ahead1_ = Warp::shuffle(ahead1_, lane);
    reader.low_ = Warp::shuffle(low_, lane);
    reader.high_ = Warp::shuffle(high_, lane);
    reader.kept_ = Warp::shuffle(kept_, lane);
    return reader;
  }

  WARPFOLD_WARP_CODE const std::uint32_t* words() const { return words_; }
  WARPFOLD_WARP_CODE std::uint32_t count() const { return count_; }

 private:
  WARPFOLD_WARP_CODE std::uint32_t load(std::uint32_t word) const {
    return word < count_ ? Warp::load(words_ + word) : 0;
  }

  const std::uint32_t* words_ = nullptr;
  std::uint32_t count_ = 0;   ///< number of words
  std::uint32_t next_ = 0;    ///< word, behind those ahead
  std::uint32_t ahead0_ = 0;  ///< the word after those that bits are kept of
  std::uint32_t ahead1_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0;
  std::uint32_t kept_ = 0;  ///< bits, bit 0 counted, in the lower 6 bits; above: anything
};

}  // namespace warpfold::cuda::inflate
