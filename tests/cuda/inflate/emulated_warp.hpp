#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

namespace warpfold::testing {

/// The 32 lanes of a warp on the host, each a fibre that runs until all are to do something
/// together.
class EmulatedWarp {
 public:
  static constexpr std::uint32_t lanes = 32;

  /// Runs `body` in every lane. Throws where lanes end while others wait for them.
  static void run(const std::function<void()>& body) {
    EmulatedWarp warp(body);
    current_ = &warp;
    for (std::uint32_t left = lanes; left > 0;) {
      left = lanes;
      for (warp.lane_ = 0; warp.lane_ < lanes; ++warp.lane_) {
        Fibre& fibre = warp.fibres_[warp.lane_];
        if (!fibre.ended) swapcontext(&warp.scheduler_, &fibre.context);
        if (fibre.ended) --left;
      }
      if (left != 0 && left != lanes) throw std::logic_error("lanes have parted");
    }
    current_ = nullptr;
  }

  static std::uint32_t lane() { return current_->lane_; }

  template <class T>
  static T shuffle(T value, std::uint32_t source) {
    return reinterpret_value<T>(exchange(as_word(value))[source % lanes]);
  }

  static std::uint32_t ballot(bool says) {
    const Words& words = exchange(says ? 1 : 0);
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < lanes; ++i) bits |= static_cast<std::uint32_t>(words[i]) << i;
    return bits;
  }

  static bool any(bool says) { return ballot(says) != 0; }
  static void synchronize() { exchange(0); }
  static std::uint32_t load(const std::uint32_t* word) { return *word; }

  static std::uint32_t take(std::uint32_t* counter, std::uint32_t count) {
    const std::uint32_t before = *counter;
    *counter += count;
    return before;
  }

 private:
  using Words = std::array<std::uint64_t, lanes>;

  struct Fibre {
    static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
    std::uint32_t rounds = 0;
    bool ended = false;
  };

  explicit EmulatedWarp(const std::function<void()>& body) : body_(body) {
    for (Fibre& fibre : fibres_) {
      getcontext(&fibre.context);
      fibre.context.uc_stack.ss_sp = fibre.stack.get();
      fibre.context.uc_stack.ss_size = Fibre::stack_bytes;
      fibre.context.uc_link = &scheduler_;
      makecontext(&fibre.context, &EmulatedWarp::run_lane, 0);
    }
  }

  static void run_lane() {
    current_->body_();
    current_->fibres_[current_->lane_].ended = true;
  }

  template <class T>
  static std::uint64_t as_word(T value) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<std::uintptr_t>(value);
    else
      return value;
  }

  template <class T>
  static T reinterpret_value(std::uint64_t word) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<T>(static_cast<std::uintptr_t>(word));
    else
      return static_cast<T>(word);
  }

  /// Returns what all lanes pass, once they have come here. The words of one round stay while lanes
  /// are in the next.
  static const Words& exchange(std::uint64_t word) {
    EmulatedWarp& warp = *current_;
    Fibre& fibre = warp.fibres_[warp.lane_];
    Words& words = warp.words_[fibre.rounds++ % 2];
    words[warp.lane_] = word;
    swapcontext(&fibre.context, &warp.scheduler_);
    return words;
  }

  inline static thread_local EmulatedWarp* current_ = nullptr;

  const std::function<void()>& body_;
  ucontext_t scheduler_{};
  std::array<Fibre, lanes> fibres_;
  std::array<Words, 2> words_{};
  std::uint32_t lane_ = 0;
};

}  // namespace warpfold::testing
