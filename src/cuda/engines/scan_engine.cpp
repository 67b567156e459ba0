#include <memory>
#include <optional>
#include <span>

#include "core/scan/scan_arithmetic.hpp"
#include "core/scan/scan_spec.hpp"
#include "cuda/chunks/decode_elements.hpp"
#include "cuda/engines/block_engine.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/scan_method.hpp"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/tile_scans.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t tile = scan_order::tile_elements;

/// A scan of a block's values, and how they come about.
struct BlockScan {
  ElementFormat stored;
  Decoding decoding;
  ScanSpec values;

  BlockScan(const StagingPlan& plan, const ScanSpec& spec)
      : stored(plan.format), decoding(plan.decoding), values(spec) {
    values.input = stored;
    if (!decoding.trivial()) values.input = {decoding.value_type(stored.type)};
  }
};

/// Parts of a block in its device memory.
struct BlockParts {
  std::byte* stored;
  std::byte* input;
  std::byte* output;
  std::byte* scratch;
};

/// Elements of one size are decoded and scanned in place.
BlockParts cut(Scratch& memory, const BlockScan& scan, const ScanMethod& method,
               std::uint64_t tiles) {
  const std::uint64_t stored_bytes = size_of(scan.stored.type);
  const std::uint64_t input_bytes = size_of(scan.values.input.type);
  const std::uint64_t output_bytes = size_of(scan.values.output);
  BlockParts parts{};
  parts.input = memory.take<std::byte>(tiles * tile * input_bytes);
  parts.stored = stored_bytes == input_bytes ? parts.input
                                             : memory.take<std::byte>(tiles * tile * stored_bytes);
  parts.output = input_bytes == output_bytes ? parts.input
                                             : memory.take<std::byte>(tiles * tile * output_bytes);
  parts.scratch = memory.take<std::byte>(method.scratch_bytes(tiles));
  return parts;
}

std::uint64_t block_bytes(const BlockScan& scan, const ScanMethod& method, std::uint64_t tiles) {
  Scratch memory;
  cut(memory, scan, method, tiles);
  return memory.bytes();
}

/// A block in device memory. Its elements come and go in others' streams, its scans are in its own.
class ScanBlock {
 public:
  ScanBlock(const BlockScan& scan, std::uint64_t tiles, int loads, const TimedEvent& time_origin)
      : scan_(scan),
        method_(make_scan_method(scan.values)),
        memory_(block_bytes(scan, *method_, tiles)),
        parts_(parts_of(memory_, scan, *method_, tiles)),
        target_(parts_.stored, loads),
        scans_(time_origin) {}

  LoadTarget& target() { return target_; }
  const std::byte* output() const { return parts_.output; }

  Accumulator total(std::uint64_t first_index, std::uint64_t elements) {
    target_.delay_until_loaded(stream_.get());
    scans_.begin(stream_.get());
    decode(first_index, elements);
    const Accumulator total = method_->total(view(elements), parts_.scratch, stream_.get());
    scans_.end(stream_.get(), elements * size_of(scan_.stored.type));
    return total;
  }

  std::optional<std::uint64_t> scan(std::uint64_t elements, const Accumulator& before) {
    scans_.begin(stream_.get());
    const auto overflow = method_->scan(view(elements), parts_.scratch, before, stream_.get());
    scans_.end(stream_.get(), 0);
    scanned_.record(stream_.get());
    return overflow;
  }

  /// Makes later work in `stream` wait for the prefixes.
  void delay_until_scanned(cudaStream_t stream) const { scanned_.delay(stream); }

  SpanTimer& work() { return scans_; }

 private:
  static BlockParts parts_of(const DeviceBuffer& memory, const BlockScan& scan,
                             const ScanMethod& method, std::uint64_t tiles) {
    Scratch scratch(memory.data());
    return cut(scratch, scan, method, tiles);
  }

  void decode(std::uint64_t first_index, std::uint64_t elements) const {
    if (scan_.decoding.trivial()) return;
    kernels::decode_elements(
        {parts_.stored, elements, scan_.stored, scan_.decoding, {.first = first_index}},
        {.values = parts_.input,
         .left_out = scan_identity_bits(scan_.values.operation, scan_.values.input.type)},
        stream_.get());
  }

  kernels::BlockView view(std::uint64_t elements) const {
    return {parts_.input, parts_.output, elements, scan_.values.input, scan_.values.output};
  }

  BlockScan scan_;
  std::unique_ptr<ScanMethod> method_;
  DeviceBuffer memory_;
  BlockParts parts_;
  LoadTarget target_;
  Event scanned_;
  SpanTimer scans_;
  Stream stream_;
};

BlockLayout block_layout(const BlockEnginePlan& plan, const BlockScan& scan, std::uint64_t limit) {
  const auto method = make_scan_method(scan.values);
  return layout_of(plan, "scan", kernels::max_tiles, limit,
                   [&](std::uint64_t tiles) { return block_bytes(scan, *method, tiles); });
}

class CudaScanEngine final : public BlockEngineOf<ScanEngine, ScanBlock> {
 public:
  CudaScanEngine(const Device& device, const BlockEnginePlan& plan, const BlockScan& scan)
      : BlockEngineOf(device, plan, stage::scan, block_layout(plan, scan, device.memory_limit()),
                      size_of(scan.values.output),
                      [&](std::uint64_t tiles, int loads, const TimedEvent& time_origin) {
                        return std::make_unique<ScanBlock>(scan, tiles, loads, time_origin);
                      }),
        output_bytes_(size_of(scan.values.output)) {}

  Accumulator total(int block, std::uint64_t first_index, std::uint64_t elements) override {
    if (elements == 0) return Accumulator::empty();
    device().activate();
    return this->block(block).total(first_index, elements);
  }

  std::optional<std::uint64_t> scan(int block, std::uint64_t first_index, std::uint64_t elements,
                                    const Accumulator& before) override {
    if (elements == 0) return std::nullopt;
    device().activate();
    const auto place = this->block(block).scan(elements, before);
    if (!place) return std::nullopt;
    return first_index + *place;
  }

  std::span<const std::byte> output(int writer, int block, std::uint64_t offset,
                                    std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device().activate();
    BlockWriter& to = this->writer(writer);
    const ScanBlock& from = this->block(block);
    from.delay_until_scanned(to.stream());
    return to.fetch(from.output() + offset * output_bytes_, elements * output_bytes_);
  }

 private:
  std::uint64_t output_bytes_;
};

}  // namespace

std::unique_ptr<ScanEngine> make_scan_engine(const Device& device, const BlockEnginePlan& plan,
                                             const ScanSpec& spec) {
  return std::make_unique<CudaScanEngine>(device, plan, BlockScan(plan.pieces, spec));
}

}  // namespace warpfold::cuda
