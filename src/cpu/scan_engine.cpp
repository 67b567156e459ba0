#include "cpu/scan_engine.hpp"

#include <algorithm>
#include <utility>

#include "core/scan_arithmetic.hpp"
#include "cpu/chunk_assembly.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::cpu {
namespace {

constexpr int block_count = 3;  ///< one being read, one being computed, one being written

/// Ranges a worker: a few, so that workers slowed down by others leave some of theirs.
constexpr std::size_t ranges_per_worker = 4;

constexpr std::uint64_t tile = scan_order::tile_elements;

FoldNeeds needs_of(ScanOperation operation) {
  FoldNeeds needs;
  needs.sum = operation == ScanOperation::sum;
  needs.extrema = !needs.sum;
  return needs;
}

/// Keeps the earlier of equal elements, whatever their indices are relative to.
void append(Extremum& earlier, const Extremum& later) {
  if (later.seen() && (!earlier.seen() || later.key < earlier.key)) earlier = later;
}

/// `before` and all ranges before `range`.
Accumulator carry_into(std::size_t range, const Accumulator& before,
                       const std::vector<Accumulator>& range_totals) {
  Accumulator carry = before;
  for (std::size_t i = 0; i < range; ++i) {
    const Accumulator& total = range_totals[i];
    carry.nan_count += total.nan_count;
    carry.positive_infinities += total.positive_infinities;
    carry.negative_infinities += total.negative_infinities;
    carry.sum.add(total.sum);
    append(carry.minimum, total.minimum);
    append(carry.maximum, total.maximum);
  }
  carry.sum.normalize();
  return carry;
}

}  // namespace

HostScanEngine::HostScanEngine(std::shared_ptr<ThreadPool> pool, const Kernels& kernels,
                               const ScanPlan& plan)
    : pool_(std::move(pool)),
      kernels_(kernels),
      spec_(plan.spec),
      input_bytes_(size_of(plan.spec.input.type)),
      output_bytes_(size_of(plan.spec.output)),
      block_elements_(round_up(std::max<std::uint64_t>(1, plan.partition_elements), tile)) {
  for (int block = 0; block < block_count; ++block)
    blocks_.push_back({PageBuffer(block_elements_ * input_bytes_),
                       PageBuffer(block_elements_ * output_bytes_),
                       {}});
  for (int reader = 0; reader < plan.readers; ++reader) staging_.emplace_back(plan.staging_bytes);
  for (int worker = 0; worker < pool_->threads(); ++worker) {
    folders_.push_back(make_range_folder(kernels, spec_.input, needs_of(spec_.operation)));
    scanners_.push_back(make_range_scanner(kernels, spec_));
  }
}

std::span<std::byte> HostScanEngine::input(int, int block, std::uint64_t offset,
                                           std::uint64_t elements) {
  return block_at(block).in.span().subspan(offset * input_bytes_, elements * input_bytes_);
}

std::span<std::byte> HostScanEngine::staging(int reader) {
  return staging_[static_cast<std::size_t>(reader)].span();
}

void HostScanEngine::load(int reader, int block, const StagedChunks& piece) {
  assemble(kernels_, input_bytes_, piece, staging(reader).data(), block_at(block).in.span().data());
}

std::size_t HostScanEngine::range_count(std::uint64_t elements) const {
  const auto most = static_cast<std::size_t>(pool_->threads()) * ranges_per_worker;
  return std::min<std::size_t>(ceil_div(elements, tile), most);
}

ElementRange HostScanEngine::range_of(std::uint64_t elements, std::size_t range) const {
  return partition(elements, tile, range_count(elements), range);
}

Accumulator HostScanEngine::total(int block, std::uint64_t elements) {
  Block& here = block_at(block);
  here.range_totals.assign(range_count(elements), Accumulator::empty());
  const std::byte* in = here.in.span().data();
  pool_->parallel_for(here.range_totals.size(), [&](std::size_t range, int worker) {
    const ElementRange part = range_of(elements, range);
    RangeFolder& folder = *folders_[static_cast<std::size_t>(worker)];
    folder.fold(in + part.first * input_bytes_, part.count, {.first = part.first}, 0);
    here.range_totals[range] = folder.take();
  });
  Accumulator total = Accumulator::empty();
  for (const Accumulator& part : here.range_totals) total.merge(part);
  total.normalize();
  return total;
}

std::optional<std::uint64_t> HostScanEngine::scan(int block, std::uint64_t first_index,
                                                  std::uint64_t elements,
                                                  const Accumulator& before) {
  Block& here = block_at(block);
  const std::byte* in = here.in.span().data();
  std::byte* out = here.out.span().data();
  std::vector<std::optional<std::uint64_t>> unfit(here.range_totals.size());
  pool_->parallel_for(unfit.size(), [&](std::size_t range, int worker) {
    const ElementRange part = range_of(elements, range);
    RangeScanner& scanner = *scanners_[static_cast<std::size_t>(worker)];
    unfit[range] = scanner.scan(in + part.first * input_bytes_, part.count,
                                carry_into(range, before, here.range_totals),
                                out + part.first * output_bytes_);
  });
  for (std::size_t range = 0; range < unfit.size(); ++range)
    if (unfit[range]) return first_index + range_of(elements, range).first + *unfit[range];
  return std::nullopt;
}

std::span<const std::byte> HostScanEngine::output(int, int block, std::uint64_t offset,
                                                  std::uint64_t elements) {
  return block_at(block).out.span().subspan(offset * output_bytes_, elements * output_bytes_);
}

}  // namespace warpfold::cpu
