#include "emulator/grid.hpp"

#include <sched.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

namespace warpfold::emulator {

constinit thread_local Place* place = nullptr;

namespace {

/// Kernels take 8 KiB at most. Larger stacks use more of the TLB.
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr unsigned all_lanes = 0xffffffffu;

/// How often all blocks may look in vain for what they wait for.
constexpr std::uint64_t most_vain_turns = 20'000;

class Block;

enum class LaneState : std::uint8_t { ready, meeting, ended };

struct Lane {
  Place place;
  Block* block = nullptr;
  unsigned warp = 0;
  LaneState state = LaneState::ready;
  bool waited = false;  ///< for memory, when it last ran
  boost::context::fiber fibre;
};

/// Goes on with `to`, until something comes back to `from`.
void switch_fibres(boost::context::fiber& from, boost::context::fiber& to) {
  std::move(to).resume_with([&from](boost::context::fiber&& left) {
    from = std::move(left);
    return boost::context::fiber();
  });
}

thread_local Lane* running = nullptr;

/// Lanes of a warp that come together again and again.
struct MeetingPoint {
  Meeting meeting = Meeting::synchronize;
  unsigned arrived = 0;
  std::uint64_t times = 0;
  std::array<std::uint64_t, warp_lanes> brought{};
  Met met{};
};

struct Warp {
  unsigned ready = 0;  ///< lanes
  unsigned ended = 0;
  bool waits = false;                       ///< for memory, since a lane last looked in vain
  std::map<unsigned, MeetingPoint> points;  ///< meeting points by mask
};

struct Barrier {
  std::size_t arrived = 0;
  std::uint64_t times = 0;
};

/// Quick, as lanes draw at every step. Its upper bits are random.
std::linear_congruential_engine<std::uint64_t, 6364136223846793005, 1442695040888963407, 0>
    generator(1);

/// Draws a number below `count`.
unsigned draw(std::size_t count) {
  return static_cast<unsigned>((generator() >> 32) * count >> 32);
}

/// Blocks take turns: one at a time.
class Turns {
 public:
  void begin(unsigned blocks) {
    present_.resize(blocks);
    std::iota(present_.begin(), present_.end(), 0u);
    vain_ = 0;
    pass_on();
  }

  void wait(unsigned block) { turns_[block].given.acquire(); }

  /// `vain`: the block found nothing that it waits for.
  void hand_over(unsigned block, bool vain) {
    vain_ = vain ? vain_ + 1 : 0;
    if (vain_ > most_vain_turns) fail("blocks wait for what no other block writes");
    pass_on();
    wait(block);
  }

  void leave(unsigned block) {
    std::erase(present_, block);
    vain_ = 0;
    if (!present_.empty()) pass_on();
  }

 private:
  struct Turn {
    std::binary_semaphore given{0};
  };

  void pass_on() { turns_[present_[draw(present_.size())]].given.release(); }

  std::array<Turn, most_resident_blocks> turns_;
  std::vector<unsigned> present_;
  std::uint64_t vain_ = 0;
};

using Stacks = boost::context::pooled_fixedsize_stack;

/// The stack of a lane, which begins at a line of the cache of its own: lanes run one after
/// another, and what all of them kept at the same place in a page would go to the same few lines.
class LaneStack {
 public:
  LaneStack(const Stacks& stacks, unsigned lane)
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

/// A block that runs, in the thread that calls.
class Block {
 public:
  Block(const Grid& grid, unsigned number, const std::function<void()>& kernel, Turns& turns,
        unsigned turn, const Stacks& stacks)
      : turns_(turns), turn_(turn), lanes_(grid.threads), warps_((grid.threads + 31) / warp_lanes) {
    shared_ = static_cast<std::byte*>(
        std::aligned_alloc(1024, grid.dynamic_shared_bytes / 1024 * 1024 + 2048));
    std::generate_n(shared_, grid.dynamic_shared_bytes,
                    [] { return static_cast<std::byte>(draw(256)); });
    for (unsigned i = 0; i < grid.threads; ++i) {
      Lane& lane = lanes_[i];
      lane.place = {{i, 0, 0}, {number, 0, 0}, dim3(grid.threads), dim3(grid.blocks), shared_};
      lane.block = this;
      lane.warp = i / warp_lanes;
      lane.fibre = boost::context::fiber(std::allocator_arg, LaneStack(stacks, i),
                                         [this, &lane, &kernel](boost::context::fiber&&) {
                                           kernel();
                                           lane.state = LaneState::ended;
                                           return std::move(scheduler_);
                                         });
      warps_[lane.warp].ready |= 1u << i % warp_lanes;
    }
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(shared_); }

  void run() {
    unsigned vain_passes = 0;
    bool further = false;
    while (ended_ < lanes_.size()) {
      const unsigned warp = some_ready_warp();
      const bool waits = warps_[warp].waits;
      const bool got_further = pass(warp);
      further = further || got_further;
      vain_passes = got_further && !waits ? 0 : vain_passes + 1;
      if (vain_passes <= 2 * warps_.size() && !leaves_soon_ && draw(64) != 0) continue;
      leaves_soon_ = false;
      turns_.hand_over(turn_, !further);
      vain_passes = 0;
      further = false;
    }
  }

  void leave_soon() { leaves_soon_ = true; }

  void wait_for_others(Lane& lane) {
    lane.waited = true;
    warps_[lane.warp].waits = true;
    hand_over(lane);
  }

  /// From the lane that runs to the next one of the pass.
  void hand_over(Lane& lane) {
    pass_.further |= !lane.waited;
    Lane* const next = next_of_pass();
    if (next != nullptr) let_run(*next);
    switch_fibres(lane.fibre, next != nullptr ? next->fibre : scheduler_);
  }

  const Met& meet(Lane& lane, Meeting meeting, unsigned mask, std::uint64_t value) {
    const unsigned bit = 1u << lane.place.lane();
    if ((mask & bit) == 0) fail("a lane meets others by a mask that it is not in");
    Warp& warp = warps_[lane.warp];
    MeetingPoint& point = warp.points[mask];
    if (point.arrived == 0) point.meeting = meeting;
    if (point.meeting != meeting) fail("lanes of a warp meet in different operations");
    point.brought[lane.place.lane()] = value;
    point.arrived |= bit;
    const std::uint64_t times = point.times;
    complete(warp, lane.warp, mask, point);
    while (point.times == times) wait_at_meeting(lane);
    return point.met;
  }

  void meet_at_barrier(Lane& lane) {
    ++barrier_.arrived;
    const std::uint64_t times = barrier_.times;
    complete_barrier();
    while (barrier_.times == times) wait_at_meeting(lane);
  }

 private:
  /// One warp falls behind for a while. Warps that wait for memory seldom look again while others
  /// run.
  unsigned some_ready_warp() {
    if (draw(1 << 14) == 0) slow_ = draw(warps_.size());
    const auto first = draw(warps_.size());
    std::optional<unsigned> waiting;
    for (unsigned i = 0; i < warps_.size(); ++i) {
      const auto number = static_cast<unsigned>((first + i) % warps_.size());
      const Warp& warp = warps_[number];
      if (warp.ready == 0 || (number == slow_ && draw(16) != 0)) continue;
      if (!warp.waits || draw(8) == 0) return number;
      if (!waiting) waiting = number;
    }
    if (waiting) return *waiting;
    if (warps_[slow_].ready == 0) fail("all lanes of a block wait for others");
    return slow_;
  }

  /// Runs each ready lane of a warp once, in some order. Returns whether one got further.
  bool pass(unsigned number) {
    const unsigned first = draw(warp_lanes);
    pass_ = {number, first, 2 * draw(warp_lanes / 2) + 1, warps_[number].ready};
    warps_[number].waits = false;
    while (Lane* const lane = next_of_pass()) {
      let_run(*lane);
      switch_fibres(scheduler_, lane->fibre);
      if (running->state == LaneState::ended) end(*running);
    }
    return pass_.further;
  }

  Lane* next_of_pass() {
    while (pass_.turn < warp_lanes) {
      const unsigned lane = (pass_.first + pass_.turn++ * pass_.step) % warp_lanes;
      if ((pass_.ready & warps_[pass_.warp].ready & 1u << lane) != 0)
        return &lanes_[pass_.warp * warp_lanes + lane];
    }
    return nullptr;
  }

  static void let_run(Lane& lane) {
    lane.waited = false;
    running = &lane;
    place = &lane.place;
  }

  void end(const Lane& lane) {
    ++ended_;
    pass_.further = true;
    Warp& warp = warps_[lane.warp];
    warp.ready &= ~(1u << lane.place.lane());
    warp.ended |= 1u << lane.place.lane();
    for (auto& [mask, point] : warp.points) complete(warp, lane.warp, mask, point);
    complete_barrier();
  }

  void wait_at_meeting(Lane& lane) {
    lane.state = LaneState::meeting;
    warps_[lane.warp].ready &= ~(1u << lane.place.lane());
    hand_over(lane);
  }

  void make_ready(Lane& lane) {
    if (lane.state != LaneState::meeting) return;
    lane.state = LaneState::ready;
    warps_[lane.warp].ready |= 1u << lane.place.lane();
  }

  void complete(Warp& warp, unsigned number, unsigned mask, MeetingPoint& point) {
    if (point.arrived == 0 || (mask & ~warp.ended & ~point.arrived) != 0) return;
    point.met = {point.brought, point.arrived};
    ++point.times;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if ((point.arrived & 1u << lane) != 0) make_ready(lanes_[number * warp_lanes + lane]);
    point.arrived = 0;
  }

  void complete_barrier() {
    if (barrier_.arrived == 0 || barrier_.arrived < lanes_.size() - ended_) return;
    barrier_ = {0, barrier_.times + 1};
    for (Lane& lane : lanes_) make_ready(lane);
  }

  /// One pass over a warp's lanes that were ready when it began.
  struct Pass {
    unsigned warp;
    unsigned first;
    unsigned step;
    unsigned ready;
    unsigned turn = 0;
    bool further = false;
  };

  Turns& turns_;
  unsigned turn_;
  std::byte* shared_;
  boost::context::fiber scheduler_;
  Pass pass_{};
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  Barrier barrier_;
  std::size_t ended_ = 0;
  bool leaves_soon_ = false;
  unsigned slow_ = 0;  ///< the warp that falls behind
};

/// Keeps the thread that calls on one core.
void stay_on(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

/// The threads that blocks run in. They live on, so that a block finds in its shared memory what
/// another left there.
class Multiprocessors {
 public:
  Multiprocessors() {
    for (unsigned i = 0; i < most_resident_blocks; ++i)
      threads_.emplace_back([this, i] { serve(i); });
  }
  ~Multiprocessors() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(const Grid& grid, const std::function<void()>& kernel) {
    const std::lock_guard one_kernel(launching_);
    order_.resize(grid.blocks);
    std::iota(order_.begin(), order_.end(), 0u);
    if (!grid.resident) std::ranges::shuffle(order_, generator);
    grid_ = grid;
    kernel_ = &kernel;
    next_ = 0;
    core_ = sched_getcpu();
    busy_ = std::min(grid.blocks, grid.resident ? most_resident_blocks : multiprocessors);
    turns_.begin(busy_);
    std::unique_lock lock(mutex_);
    serving_ = busy_;
    ++launches_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void serve(unsigned number) {
    const Stacks stacks(stack_bytes);
    std::uint64_t served = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return closing_ || (launches_ != served && number < serving_); });
      if (closing_) return;
      served = launches_;
      lock.unlock();
      stay_on(core_);
      turns_.wait(number);
      while (next_ < grid_.blocks)
        Block(grid_, order_[next_++], *kernel_, turns_, number, stacks).run();
      turns_.leave(number);
      lock.lock();
      if (--busy_ == 0) changed_.notify_all();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex launching_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::uint64_t launches_ = 0;
  unsigned serving_ = 0;
  unsigned busy_ = 0;
  Turns turns_;
  Grid grid_;
  const std::function<void()>* kernel_ = nullptr;
  std::vector<unsigned> order_;
  unsigned next_ = 0;  ///< index in `order_`
  int core_ = 0;       ///< core of all blocks: a turn's end wakes no other
};

}  // namespace

bool run(const Grid& grid, const std::function<void()>& lane) {
  static Multiprocessors gpu;
  if (grid.blocks == 0 || grid.threads == 0 || grid.threads > 1024) return false;
  if (grid.resident && grid.blocks > most_resident_blocks) return false;
  gpu.run(grid, lane);
  return true;
}

void seed_schedule(std::uint64_t seed) { generator.seed(seed); }

void fail(const char* what) {
  if (place == nullptr)
    std::fprintf(stderr, "emulated GPU: %s\n", what);
  else
    std::fprintf(stderr, "emulated GPU: %s: thread %u of block %u\n", what, place->thread.x,
                 place->block.x);
  std::abort();
}

const Met& meet(Meeting meeting, unsigned mask, std::uint64_t value) {
  return running->block->meet(*running, meeting, mask, value);
}

void wait_at_block_barrier() { running->block->meet_at_barrier(*running); }

void wait_for_others() { running->block->wait_for_others(*running); }

void perhaps_let_lanes_run() {
  if (draw(8) == 0) running->block->hand_over(*running);
}

void perhaps_let_blocks_run() {
  if (draw(4) != 0) return;
  running->block->leave_soon();
  running->block->hand_over(*running);
}

}  // namespace warpfold::emulator
