#include "emulator/grid.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "emulator/fibres.hpp"
#include "emulator/warp.hpp"

namespace warpfold::emulator {

constinit thread_local Place* place = nullptr;

namespace {

/// How often all blocks may look in vain for what they wait for.
constexpr std::uint64_t most_vain_turns = 20'000;

thread_local Lane* running = nullptr;

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
    turns_[next()].give();
  }

  void wait(unsigned block) { turns_[block].take(); }

  /// `vain`: the block found nothing that it waits for.
  void hand_over(unsigned block, bool vain) {
    vain_ = vain ? vain_ + 1 : 0;
    if (vain_ > most_vain_turns) fail("blocks wait for what no other block writes");
    const unsigned to = next();
    if (to == block) return;
    turns_[to].give();
    wait(block);
  }

  /// Names the warps that run in a block's turns.
  void fill(unsigned block, const std::vector<Warp>* warps) { turns_[block].warps = warps; }

  void leave(unsigned block) {
    std::erase(present_, block);
    vain_ = 0;
    if (!present_.empty()) turns_[next()].give();
  }

 private:
  /// Chooses the next block: one that would look in vain if all would.
  unsigned next() const {
    const unsigned first = draw(present_.size());
    for (unsigned i = 0; i < present_.size(); ++i) {
      const unsigned block = present_[(first + i) % present_.size()];
      if (!turns_[block].is_vain()) return block;
    }
    return present_[first];
  }

  std::array<Turn, most_resident_blocks> turns_;
  std::vector<unsigned> present_;
  std::uint64_t vain_ = 0;
};

}  // namespace

/// A block that runs, in the thread that calls.
class Block {
 public:
  Block(const Grid& grid, unsigned number, const std::function<void()>& kernel, Turns& turns,
        unsigned turn, Fibres& fibres)
      : kernel_(kernel),
        turns_(turns),
        turn_(turn),
        lanes_(grid.threads),
        warps_((grid.threads + 31) / warp_lanes) {
    shared_ = static_cast<std::byte*>(
        std::aligned_alloc(1024, grid.dynamic_shared_bytes / 1024 * 1024 + 2048));
    std::generate_n(shared_, grid.dynamic_shared_bytes,
                    [] { return static_cast<std::byte>(draw(256)); });
    for (unsigned i = 0; i < grid.threads; ++i) {
      Lane& lane = lanes_[i];
      lane.place = {{i, 0, 0}, {number, 0, 0}, dim3(grid.threads), dim3(grid.blocks), shared_};
      lane.block = this;
      lane.warp = i / warp_lanes;
      lane.fibre = &fibres.of(i);
      warps_[lane.warp].ready |= 1u << i % warp_lanes;
    }
    turns_.fill(turn_, &warps_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    turns_.fill(turn_, nullptr);
    std::free(shared_);
  }

  void run() {
    unsigned vain_passes = 0;
    bool further = false;
    while (ended_ < lanes_.size()) {
      unsigned warp = some_ready_warp();
      if (is_asleep(warps_[warp])) {
        turns_.hand_over(turn_, !further);
        further = false;
        warp = some_ready_warp();
      }
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

  void run_kernel(Lane& lane) {
    kernel_();
    lane.state = LaneState::ended;
    switch_fibres(*lane.fibre, scheduler_);
  }

  void leave_soon() { leaves_soon_ = true; }

  void wait_for_others(Lane& lane, const void* memory, std::size_t bytes) {
    lane.waited = true;
    Warp& warp = warps_[lane.warp];
    warp.waits = true;
    Word& word = lane.looked_at;
    lane.vain_looks = word.memory == memory && word.is_as_seen() ? lane.vain_looks + 1 : 0;
    if (lane.vain_looks < 2)
      warp.runs_on = true;
    else if (warp.awaited.empty() || warp.awaited.back().memory != memory)
      warp.awaited.push_back(word);
    hand_over(lane);
    word.memory = memory;
    word.bytes = std::min(bytes, word.seen.size());
    word.look();
  }

  void hand_over_and_run_on(Lane& lane) {
    warps_[lane.warp].runs_on = true;
    hand_over(lane);
  }

  /// From the lane that runs to the next one of the pass.
  void hand_over(Lane& lane) {
    pass_.further |= !lane.waited;
    Lane* const next = next_of_pass();
    if (next != nullptr) let_run(*next);
    switch_fibres(*lane.fibre, next != nullptr ? *next->fibre : scheduler_);
  }

  Met meet(Lane& lane, Meeting meeting, unsigned mask, const Brought& brought) {
    const unsigned bit = 1u << lane.place.lane();
    if ((mask & bit) == 0) fail("a lane meets others by a mask that it is not in");
    Warp& warp = warps_[lane.warp];
    MeetingPoint& point = warp.points[mask];
    if (point.arrived == 0) point.begin(meeting, brought);
    if (point.meeting != meeting || point.bytes != brought.bytes || point.finish != brought.finish)
      fail("lanes of a warp meet in different operations");
    point.arrive(lane.place.lane(), brought.value);
    const std::uint64_t times = point.times;
    complete(warp, lane.warp, mask, point);
    while (point.times == times) wait_at_meeting(lane);
    return {point.values_of(times), point.lanes};
  }

  void meet_at_barrier(Lane& lane) {
    ++barrier_.arrived;
    const std::uint64_t times = barrier_.times;
    complete_barrier();
    while (barrier_.times == times) wait_at_meeting(lane);
  }

 private:
  /// One warp falls behind for a while. Warps that wait for memory seldom look again while others
  /// run, and those that would look in vain do so last.
  unsigned some_ready_warp() {
    if (draw(1 << 14) == 0) slow_ = draw(warps_.size());
    const auto first = draw(warps_.size());
    std::optional<unsigned> waiting;
    for (unsigned i = 0; i < warps_.size(); ++i) {
      const auto number = static_cast<unsigned>((first + i) % warps_.size());
      const Warp& warp = warps_[number];
      if (warp.ready == 0 || (number == slow_ && draw(16) != 0)) continue;
      const bool asleep = is_asleep(warp);
      if (!warp.waits || (!asleep && draw(8) == 0)) return number;
      if (!waiting || (!asleep && is_asleep(warps_[*waiting]))) waiting = number;
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
    warps_[number].runs_on = false;
    warps_[number].awaited.clear();
    while (Lane* const lane = next_of_pass()) {
      let_run(*lane);
      switch_fibres(scheduler_, *lane->fibre);
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
    warps_[lane.warp].runs_on = true;
  }

  void complete(Warp& warp, unsigned number, unsigned mask, MeetingPoint& point) {
    if (point.arrived == 0 || (mask & ~warp.ended & ~point.arrived) != 0) return;
    point.end();
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if ((point.lanes & 1u << lane) != 0) make_ready(lanes_[number * warp_lanes + lane]);
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

  const std::function<void()>& kernel_;
  Turns& turns_;
  unsigned turn_;
  std::byte* shared_;
  Fibre scheduler_;
  Pass pass_{};
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  Barrier barrier_;
  std::size_t ended_ = 0;
  bool leaves_soon_ = false;
  unsigned slow_ = 0;  ///< the warp that falls behind
};

namespace {

void run_lane() { running->block->run_kernel(*running); }

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
    Fibres fibres(run_lane);
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
        Block(grid_, order_[next_++], *kernel_, turns_, number, fibres).run();
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
  if (grid.blocks == 0 || grid.threads == 0 || grid.threads > most_threads) return false;
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

Met meet(Meeting meeting, unsigned mask, const Brought& brought) {
  return running->block->meet(*running, meeting, mask, brought);
}

void wait_at_block_barrier() { running->block->meet_at_barrier(*running); }

void wait_for_others(const void* memory, std::size_t bytes) {
  running->block->wait_for_others(*running, memory, bytes);
}

void perhaps_let_lanes_run() {
  if (draw(8) == 0) running->block->hand_over_and_run_on(*running);
}

void perhaps_let_blocks_run() {
  if (draw(4) != 0) return;
  running->block->leave_soon();
  running->block->hand_over_and_run_on(*running);
}

}  // namespace warpfold::emulator
