#include "pipeline/scan_pipeline.hpp"

#include <cstring>
#include <exception>
#include <thread>

#include "core/byte_order.hpp"
#include "mpi/agreement.hpp"
#include "mpi/combine.hpp"
#include "pipeline/block_task.hpp"
#include "pipeline/channel.hpp"
#include "pipeline/run_watch.hpp"
#include "pipeline/stage_clock.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/ordered_key.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {
namespace {

std::uint64_t supersteps_of(const ScanJob& job, const mpi::Communicator& communicator) {
  const std::uint64_t blocks = ceil_div(job.dataset.info().elements, job.block_elements);
  return ceil_div(blocks, static_cast<std::uint64_t>(communicator.size()));
}

ElementRange block_of(const ScanJob& job, const mpi::Communicator& communicator,
                      std::uint64_t superstep) {
  return block_range(job.dataset.info().elements, job.block_elements,
                     superstep * static_cast<std::uint64_t>(communicator.size()) +
                         static_cast<std::uint64_t>(communicator.rank()));
}

/// Blocks on their way: free, filled by a reader thread, scanned by the caller, written by a writer
/// thread, free again.
class BlockCycle {
 public:
  BlockCycle(const ScanJob& job, const RunOptions& options, const mpi::Communicator& communicator)
      : job_(job), options_(options) {
    for (int block = 0; block < job.engine.blocks(); ++block) free_.push(block);
    std::vector<ElementRange> ranges;
    for (std::uint64_t step = 0; step < supersteps_of(job, communicator); ++step) {
      ranges.push_back(block_of(job, communicator, step));
      bytes_to_write_ += ranges.back().count * size_of(job.spec.output);
    }
    reader_ = std::jthread([this, ranges] { read_all(ranges); });
    writer_ = std::jthread([this] { write_all(); });
  }

  ~BlockCycle() {
    free_.cancel();
    scanned_.cancel();
  }
  BlockCycle(const BlockCycle&) = delete;
  BlockCycle& operator=(const BlockCycle&) = delete;

  /// The next block that is loaded. Throws what reading or writing threw.
  BlockTask next() {
    if (const std::optional<BlockTask> task = loaded_.pop()) return *task;
    stop();
    if (read_failure_) std::rethrow_exception(read_failure_);
    std::rethrow_exception(write_failure_);
  }

  void write(const BlockTask& task) { scanned_.push(task); }

  /// Returns once everything is written and durable. Throws what writing threw.
  void finish() {
    scanned_.close();
    writer_.join();
    if (write_failure_) std::rethrow_exception(write_failure_);
    write_clock_.time(0, [this] { job_.writer.sync(); });
  }

  /// value_bits() of the last element written; after finish().
  std::uint64_t last_bits() const { return last_bits_; }
  std::vector<StageTiming> timings() const {
    return {read_clock_.timing(), copy_clock_.timing(), write_clock_.timing()};
  }

 private:
  void stop() {
    free_.cancel();
    scanned_.cancel();
    reader_.join();
    writer_.join();
  }

  void read_all(const std::vector<ElementRange>& ranges) {
    try {
      for (const ElementRange& range : ranges) {
        const std::optional<int> block = free_.pop();
        if (!block) break;
        read_block({*block, range});
        loaded_.push({*block, range});
      }
    } catch (...) {
      read_failure_ = std::current_exception();
    }
    loaded_.close();
  }

  void read_block(const BlockTask& task) {
    const std::size_t size = size_of(job_.spec.input.type);
    for_each_piece(task.range.count, job_.slab_elements, [&](auto offset, auto elements) {
      leave_if_interrupted(options_);
      const std::span<std::byte> memory = job_.engine.input(task.block, offset, elements);
      read_clock_.time(elements * size, [&] {
        job_.dataset.read({task.range.first + offset, elements}, memory);
      });
      job_.engine.load(task.block, offset, elements);
    });
  }

  void write_all() {
    try {
      while (const std::optional<BlockTask> task = scanned_.pop()) {
        write_block(*task);
        free_.push(task->block);
      }
    } catch (...) {
      write_failure_ = std::current_exception();
      // The reader, and then the caller in next(), would wait for this thread's blocks.
      free_.cancel();
    }
  }

  void write_block(const BlockTask& task) {
    const std::size_t size = size_of(job_.spec.output);
    for_each_piece(task.range.count, job_.slab_elements, [&](auto offset, auto elements) {
      leave_if_interrupted(options_);
      const std::uint64_t bytes = elements * size;
      const std::span<const std::byte> memory =
          copy_clock_.time(bytes, [&] { return job_.engine.output(task.block, offset, elements); });
      write_clock_.time(bytes,
                        [&] { job_.writer.write((task.range.first + offset) * size, memory); });
      keep_last(memory.last(size));
      bytes_written_ += bytes;
      report_progress(options_, bytes_written_, bytes_to_write_);
    });
  }

  void keep_last(std::span<const std::byte> element) {
    last_bits_ = visit_element_type(job_.spec.output, [&](auto value) {
      std::memcpy(&value, element.data(), sizeof(value));
      return value_bits(value);
    });
  }

  const ScanJob& job_;
  const RunOptions& options_;
  Channel<int> free_;
  Channel<BlockTask> loaded_;
  Channel<BlockTask> scanned_;
  std::exception_ptr read_failure_;
  std::exception_ptr write_failure_;
  StageClock read_clock_{"read"};
  StageClock copy_clock_{"copy out"};
  StageClock write_clock_{"write"};
  std::uint64_t bytes_to_write_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t last_bits_ = 0;
  std::jthread reader_;
  std::jthread writer_;
};

[[noreturn]] void throw_overflow(std::uint64_t index, const ScanSpec& spec) {
  throw Error("the scan overflows at index " + std::to_string(index),
              "the prefix there is beyond " + std::string(name_of(spec.output)),
              "Use a wider --output-type, or --overflow wrap.");
}

/// The supersteps of one rank: fold, exscan, scan.
class Supersteps {
 public:
  Supersteps(const ScanJob& job, BlockCycle& cycle, const mpi::Communicator& communicator)
      : job_(job), cycle_(cycle), communicator_(communicator) {}

  /// Returns whether all went well on all ranks so far; failure() holds what happened here.
  bool step() {
    Accumulator total = Accumulator::empty();
    BlockTask task{};
    // A failed scan keeps its block: waiting for the next one might never end.
    if (!failure_) {
      attempt([&] {
        task = cycle_.next();
        total = fold(task);
      });
    }
    if (!all_well()) return false;
    const Accumulator before = combine(total);
    attempt([&] {
      scan(task, before);
      cycle_.write(task);
    });
    return true;
  }

  /// Whether no rank has failed up to here; throws on every rank where one met an overflow.
  bool all_well() {
    const std::uint64_t well = failure_ ? 0 : 1;
    const auto state = mpi::minimum({well, overflow_}, communicator_);
    if (state[1] != no_index) throw_overflow(state[1], job_.spec);
    return state[0] == 1;
  }

  template <class Body>
  void attempt(Body&& body) {
    try {
      body();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const std::exception_ptr& failure() const { return failure_; }
  std::vector<StageTiming> timings() const {
    return {scan_clock_.timing(), combine_clock_.timing()};
  }

 private:
  Accumulator fold(const BlockTask& task) {
    if (task.range.count == 0) return Accumulator::empty();
    return scan_clock_.time(task.range.count * size_of(job_.spec.input.type), [&] {
      Accumulator total = job_.engine.total(task.block, task.range.count);
      total.shift_indices(task.range.first);
      return total;
    });
  }

  /// What comes before this rank's block: earlier supersteps and lower ranks.
  Accumulator combine(const Accumulator& total) {
    return combine_clock_.time(sizeof(Accumulator), [&] {
      Accumulator before = mpi::exclusive_scan(total, communicator_);
      before.merge(carry_);
      before.normalize();
      Accumulator through = before;
      through.merge(total);
      through.normalize();
      carry_ = mpi::broadcast(through, communicator_, communicator_.size() - 1);
      return before;
    });
  }

  void scan(const BlockTask& task, const Accumulator& before) {
    if (task.range.count == 0) return;
    const auto overflow = scan_clock_.time(0, [&] {
      return job_.engine.scan(task.block, task.range.first, task.range.count, before);
    });
    if (overflow) overflow_ = *overflow;
  }

  const ScanJob& job_;
  BlockCycle& cycle_;
  const mpi::Communicator& communicator_;
  Accumulator carry_ = Accumulator::empty();
  std::uint64_t overflow_ = no_index;
  std::exception_ptr failure_;
  StageClock scan_clock_{"scan"};
  StageClock combine_clock_{"combine"};
};

std::uint64_t last_bits_everywhere(const ScanJob& job, std::uint64_t mine,
                                   const mpi::Communicator& communicator) {
  const std::uint64_t blocks = ceil_div(job.dataset.info().elements, job.block_elements);
  const auto owner =
      static_cast<int>((blocks - 1) % static_cast<std::uint64_t>(communicator.size()));
  return mpi::broadcast(mine, communicator, owner);
}

}  // namespace

ScanOutcome scan_blocks(const ScanJob& job, const RunOptions& options,
                        const mpi::Communicator& communicator) {
  BlockCycle cycle(job, options, communicator);
  Supersteps supersteps(job, cycle, communicator);
  const std::uint64_t steps = supersteps_of(job, communicator);
  std::uint64_t step = 0;
  while (step < steps && supersteps.step()) ++step;
  if (step == steps && supersteps.all_well()) supersteps.attempt([&] { cycle.finish(); });
  mpi::settle(supersteps.failure(), communicator);

  ScanOutcome outcome;
  outcome.last_bits = last_bits_everywhere(job, cycle.last_bits(), communicator);
  outcome.stages = cycle.timings();
  for (const StageTiming& stage : supersteps.timings()) outcome.stages.push_back(stage);
  return outcome;
}

}  // namespace warpfold::pipeline
