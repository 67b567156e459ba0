#include "pipeline/scan/block_work.hpp"

#include "pipeline/scan/scan_results.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {

std::vector<PieceCounts> piece_counts(const ScanJob& job) {
  std::vector<PieceCounts> supersteps;
  for (std::uint64_t superstep = 0; superstep < job.blocks.supersteps(); ++superstep) {
    const ElementRange range = job.blocks.range(superstep);
    if (range.count == 0)
      supersteps.push_back({});
    else
      supersteps.push_back({job.source.pieces(range), ceil_div(range.count, job.piece_elements)});
  }
  return supersteps;
}

BlockWork::BlockWork(const ScanJob& job, BlockFlow& flow, StageRegistry& stages)
    : job_(job), flow_(flow), write_timers_(stages, stage::write, job.threads) {
  for (std::uint64_t superstep = 0; superstep < job.blocks.supersteps(); ++superstep)
    bytes_to_write_ += job.blocks.range(superstep).count * size_of(job.spec.output);
}

void BlockWork::run(int worker, const std::stop_token& stop) {
  flow_.carry_out(stop, [&](const PieceTask& task) { carry_out(worker, task); });
}

void BlockWork::carry_out(int worker, const PieceTask& task) {
  const BlockTask block = block_of(task.superstep);
  if (task.stores)
    store(worker, block, task.piece);
  else
    job_.source.load(worker, block, task.piece, job_.engine);
}

BlockTask BlockWork::block_of(std::uint64_t superstep) const {
  const auto blocks = static_cast<std::uint64_t>(job_.engine.blocks());
  return {static_cast<int>(superstep % blocks), job_.blocks.range(superstep)};
}

void BlockWork::store(int worker, const BlockTask& task, std::uint64_t piece) {
  const std::size_t size = size_of(job_.spec.output);
  const ElementRange part = block_range(task.range.count, job_.piece_elements, piece);
  const std::uint64_t first = task.range.first + part.first;
  const std::uint64_t bytes = part.count * size;
  const std::span<const std::byte> memory =
      job_.engine.output(worker, task.block, part.first, part.count);
  write_timers_[worker].time(bytes, [&] { job_.writer.write(first * size, memory); });
  if (first + part.count == job_.blocks.elements)
    last_bits_ = bits_of(memory.last(size), job_.spec.output);
  bytes_written_ += bytes;
}

}  // namespace warpfold::pipeline
