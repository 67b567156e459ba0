#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace warpfold::emulator {

using Fibre = boost::context::fiber;
using Stacks = boost::context::pooled_fixedsize_stack;

/// Threads that a block has at most.
inline constexpr unsigned most_threads = 1024;

/// Goes on with `to`, until something comes back to `from`.
inline void switch_fibres(Fibre& from, Fibre& to) {
  std::move(to).resume_with([&from](Fibre&& left) {
    from = std::move(left);
    return Fibre();
  });
}

/// The stack of a lane, which begins at a line of the cache of its own: lanes run one after
/// another, and what all of them kept at the same place in a page would go to the same few lines.
class LaneStack {
 public:
  LaneStack(const Stacks& stacks, std::size_t lane)
      : stacks_(stacks), begin_(lane % lines * line_bytes) {}

  boost::context::stack_context allocate() {
    boost::context::stack_context stack = stacks_.allocate();
    stack.sp = static_cast<std::byte*>(stack.sp) - begin_;
    stack.size -= begin_;
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept { stacks_.deallocate(stack); }

 private:
  static constexpr std::size_t lines = 64;  ///< lines per page
  static constexpr std::size_t line_bytes = 64;

  Stacks stacks_;
  std::size_t begin_;
};

/// The fibres of an operating system's thread: each runs lanes of one number, block after block.
class Fibres {
 public:
  explicit Fibres(void (*run_lane)()) : run_lane_(run_lane) { fibres_.reserve(most_threads); }

  /// Returns the fibre that waits for a lane to run.
  Fibre& of(unsigned lane) {
    while (fibres_.size() <= lane)
      fibres_.emplace_back(std::allocator_arg, LaneStack(stacks_, fibres_.size()),
                           [run_lane = run_lane_](Fibre&&) -> Fibre {
                             while (true) run_lane();
                           });
    return fibres_[lane];
  }

 private:
  /// Kernels take 8 KiB at most. Larger stacks use more of the TLB.
  static constexpr std::size_t stack_bytes = 64 * 1024;

  void (*run_lane_)();
  Stacks stacks_{stack_bytes};
  std::vector<Fibre> fibres_;
};

}  // namespace warpfold::emulator
