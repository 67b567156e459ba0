#include "cpu/engines/scan_engine.hpp"

#include <algorithm>
#include <utility>

#include "core/layout/partition.hpp"
#include "core/scan/scan_spec.hpp"
#include "cpu/engines/block_ranges.hpp"

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

BlockInputs make_inputs(const Kernels& kernels, const ScanPlan& plan,
                        const BlockInputPlan& inputs) {
  if (plan.decoding.trivial()) return {kernels, inputs};
  const ElementType values = plan.decoding.value_type(plan.spec.input.type);
  std::vector<std::unique_ptr<ElementDecoder>> decoders;
  for (int reader = 0; reader < plan.readers; ++reader)
    decoders.push_back(make_element_decoder(kernels, plan.spec.input, plan.decoding,
                                            scan_identity_bits(plan.spec.operation, values)));
  return {kernels, inputs, values, std::move(decoders)};
}

}  // namespace

HostScanEngine::HostScanEngine(std::shared_ptr<ThreadPool> threads, const Kernels& kernels,
                               const ScanPlan& plan)
    : HostBlockEngine(
          std::move(threads), plan, plan.spec.input,
          [&](const BlockInputPlan& inputs) { return make_inputs(kernels, plan, inputs); }),
      input_bytes_(size_of(inputs().format().type)),
      output_bytes_(size_of(plan.spec.output)) {
  for (int block = 0; block < blocks(); ++block)
    blocks_.push_back({PageBuffer(block_elements() * output_bytes_), {}});
  ScanSpec spec = plan.spec;
  spec.input = inputs().format();
  for (int worker = 0; worker < pool().threads(); ++worker) {
    folders_.push_back(make_range_reducer(kernels, spec.input, needs_of(spec.operation)));
    scanners_.push_back(make_range_scanner(kernels, spec));
  }
}

Accumulator HostScanEngine::total(int block, std::uint64_t elements) {
  Block& here = block_at(block);
  const BlockRanges ranges(elements, pool().threads());
  here.range_totals.assign(ranges.count(), Accumulator::empty());
  const std::byte* in = inputs().elements(block);
  pool().parallel_for(here.range_totals.size(), [&](std::size_t range, int worker) {
    const ElementRange part = ranges[range];
    RangeReducer& folder = *folders_[static_cast<std::size_t>(worker)];
    const BoxIndices indices{.first = part.first};
    folder.reduce(in + part.first * input_bytes_, part.count, {indices, 0});
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

std::span<const std::byte> HostScanEngine::output(int, int block, std::uint64_t offset,
                                                  std::uint64_t elements) {
  return block_at(block).out.span().subspan(offset * output_bytes_, elements * output_bytes_);
}

}  // namespace warpfold::cpu
