#include <cstddef>
#include <optional>
#include <utility>

#include "core/scan/scan_spec.hpp"
#include "cpu/engines/host_backend.hpp"
#include "cpu/engines/host_block_engine.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "cpu/scan/range_scanner.hpp"

namespace warpfold::cpu {
namespace {

ReduceNeeds needs_of(ScanOperation operation) {
  ReduceNeeds needs;
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

/// Takes a block as ranges of consecutive tiles: total() reduces them, and keeps their totals for
/// scan(), which then scans them independently.
class HostScanEngine final : public HostBlockEngine<ScanEngine> {
 public:
  HostScanEngine(std::shared_ptr<ThreadPool> threads, const Kernels& kernels,
                 const BlockEnginePlan& plan, ScanSpec spec)
      : HostBlockEngine(std::move(threads), kernels, plan, held_by_scan(plan.pieces),
                        decoders_of_scan(kernels, plan.pieces, spec.operation)),
        input_bytes_(size_of(inputs().format().type)),
        output_bytes_(size_of(spec.output)) {
    for (int block = 0; block < blocks(); ++block)
      blocks_.push_back({PageBuffer(block_elements() * output_bytes_), {}});
    spec.input = inputs().format();
    for (int worker = 0; worker < pool().threads(); ++worker) {
      reducers_.push_back(make_range_reducer(kernels, spec.input, needs_of(spec.operation)));
      scanners_.push_back(make_range_scanner(kernels, spec));
    }
  }

  Accumulator total(int block, std::uint64_t /*first_index*/, std::uint64_t elements) override {
    Block& here = block_at(block);
    const BlockRanges ranges(elements, pool().threads());
    here.range_totals.assign(ranges.count(), Accumulator::empty());
    const std::byte* in = inputs().elements(block);
    pool().parallel_for(here.range_totals.size(), [&](std::size_t range, int worker) {
      const ElementRange part = ranges[range];
      RangeReducer& reducer = *reducers_[static_cast<std::size_t>(worker)];
      const BoxIndices indices{.first = part.first};
      reducer.reduce(in + part.first * input_bytes_, part.count, {indices, 0});
      here.range_totals[range] = reducer.take();
    });
    Accumulator total = Accumulator::empty();
    for (const Accumulator& part : here.range_totals) total.merge(part);
    total.normalize();
    return total;
  }

  std::optional<std::uint64_t> scan(int block, std::uint64_t first_index, std::uint64_t elements,
                                    const Accumulator& before) override {
    Block& here = block_at(block);
    const std::byte* in = inputs().elements(block);
    std::byte* out = here.out.span().data();
    const BlockRanges ranges(elements, pool().threads());
    std::vector<std::optional<std::uint64_t>> unfit(ranges.count());
    pool().parallel_for(unfit.size(), [&](std::size_t range, int worker) {
      const ElementRange part = ranges[range];
      RangeScanner& scanner = *scanners_[static_cast<std::size_t>(worker)];
      unfit[range] = scanner.scan(in + part.first * input_bytes_, part.count,
                                  carry_into(range, before, here.range_totals),
                                  out + part.first * output_bytes_);
    });
    for (std::size_t range = 0; range < unfit.size(); ++range)
      if (unfit[range]) return first_index + ranges[range].first + *unfit[range];
    return std::nullopt;
  }

  std::span<const std::byte> output(int, int block, std::uint64_t offset,
                                    std::uint64_t elements) override {
    return block_at(block).out.span().subspan(offset * output_bytes_, elements * output_bytes_);
  }

 private:
  struct Block {
    PageBuffer out;
    std::vector<Accumulator> range_totals;
  };

  Block& block_at(int block) { return blocks_[static_cast<std::size_t>(block)]; }

  std::size_t input_bytes_;
  std::size_t output_bytes_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<RangeReducer>> reducers_;  ///< one a worker
  std::vector<std::unique_ptr<RangeScanner>> scanners_;  ///< one a worker
};

}  // namespace

std::unique_ptr<ScanEngine> HostBackend::make_scan_engine(const BlockEnginePlan& plan,
                                                          const ScanSpec& spec) {
  return made<HostScanEngine>(plan.pieces, pool_, kernels_, plan, spec);
}

}  // namespace warpfold::cpu
