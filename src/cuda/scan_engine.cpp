#include "cuda/scan_engine.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/scan_arithmetic.hpp"
#include "cuda/copy.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/input_ring.hpp"
#include "cuda/kernels/block_view.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "cuda/pinned_buffer.hpp"
#include "cuda/scan_method.hpp"
#include "cuda/scratch.hpp"
#include "cuda/stream.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::cuda {
namespace {

constexpr int most_blocks = 3;
constexpr std::uint64_t tile = scan_order::tile_elements;

/// Where a block's parts lie in its device memory.
struct BlockParts {
  std::byte* input;
  std::byte* output;
  std::byte* scratch;
};

/// Elements of one size are scanned in place.
BlockParts cut(Scratch& memory, const ScanSpec& spec, const ScanMethod& method,
               std::uint64_t tiles) {
  const std::uint64_t input_bytes = size_of(spec.input.type);
  const std::uint64_t output_bytes = size_of(spec.output);
  BlockParts parts{};
  parts.input = memory.take<std::byte>(tiles * tile * input_bytes);
  parts.output = input_bytes == output_bytes ? parts.input
                                             : memory.take<std::byte>(tiles * tile * output_bytes);
  parts.scratch = memory.take<std::byte>(method.scratch_bytes(tiles));
  return parts;
}

std::uint64_t block_bytes(const ScanSpec& spec, const ScanMethod& method, std::uint64_t tiles) {
  Scratch memory;
  cut(memory, spec, method, tiles);
  return memory.bytes();
}

struct ScanLayout {
  int blocks;
  std::uint64_t tiles;  ///< of each block
};

/// The most tiles, up to `wanted`, of a block of at most `bytes`.
std::uint64_t tiles_that_fit(const ScanSpec& spec, const ScanMethod& method, std::uint64_t wanted,
                             std::uint64_t bytes) {
  std::uint64_t fitting = 0;
  std::uint64_t too_many = wanted + 1;
  while (too_many - fitting > 1) {
    const std::uint64_t middle = fitting + (too_many - fitting) / 2;
    (block_bytes(spec, method, middle) <= bytes ? fitting : too_many) = middle;
  }
  return fitting;
}

/// Whole partitions where they fit, so that each is scanned at once; else as many blocks as can be
/// under way together.
ScanLayout layout_of(const ScanPlan& plan, const ScanMethod& method, std::uint64_t limit) {
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(ceil_div(plan.partition_elements, tile), 1, kernels::most_tiles);
  for (int blocks = most_blocks; blocks > 0; --blocks)
    if (block_bytes(plan.spec, method, wanted) <= limit / static_cast<unsigned>(blocks))
      return {blocks, wanted};
  for (int blocks = most_blocks; blocks > 0; --blocks) {
    const std::uint64_t share = limit / static_cast<unsigned>(blocks);
    const std::uint64_t tiles = tiles_that_fit(plan.spec, method, wanted, share);
    if (tiles > 0) return {blocks, tiles};
  }
  const std::string least = std::to_string(block_bytes(plan.spec, method, 1));
  throw Error("the GPU memory allowed is too little to scan in",
              std::to_string(limit) + " bytes, and one tile takes " + least,
              "raise --device-memory to " + least + " or more");
}

/// A block in device memory, its work in a stream of its own.
class ScanBlock {
 public:
  ScanBlock(const ScanSpec& spec, std::uint64_t tiles, std::uint64_t piece_elements)
      : spec_(spec),
        method_(make_scan_method(spec)),
        memory_(block_bytes(spec, *method_, tiles)),
        staged_output_(piece_elements * size_of(spec.output)) {
    Scratch scratch(memory_.data());
    parts_ = cut(scratch, spec, *method_, tiles);
  }

  cudaStream_t stream() const { return stream_.get(); }

  void load(const std::byte* staged, std::uint64_t offset, std::uint64_t elements) {
    const std::uint64_t bytes = size_of(spec_.input.type);
    copy_to_device(parts_.input + offset * bytes, staged, elements * bytes, stream_.get());
  }

  Accumulator total(std::uint64_t elements) {
    return method_->total(view(elements), parts_.scratch, stream_.get());
  }

  std::optional<std::uint64_t> scan(std::uint64_t elements, const Accumulator& before) {
    return method_->scan(view(elements), parts_.scratch, before, stream_.get());
  }

  std::span<const std::byte> output(std::uint64_t offset, std::uint64_t elements) const {
    const std::uint64_t bytes = size_of(spec_.output);
    copy_to_host(staged_output_.data(), parts_.output + offset * bytes, elements * bytes,
                 stream_.get());
    stream_.synchronize();
    return staged_output_.span().first(elements * bytes);
  }

 private:
  kernels::BlockView view(std::uint64_t elements) const {
    return {parts_.input, parts_.output, elements, spec_.input, spec_.output};
  }

  ScanSpec spec_;
  std::unique_ptr<ScanMethod> method_;
  DeviceBuffer memory_;
  PinnedBuffer staged_output_;
  BlockParts parts_{};
  Stream stream_;
};

class CudaScanEngine final : public ScanEngine {
 public:
  CudaScanEngine(const Device& device, const ScanPlan& plan)
      : device_(device),
        spec_(plan.spec),
        layout_(layout_of(plan, *make_scan_method(plan.spec), device.memory_limit())),
        piece_elements_(std::clamp(round_up(plan.slab_elements, tile), tile, block_elements())),
        ring_(layout_.blocks, piece_elements_ * size_of(plan.spec.input.type)) {
    for (int block = 0; block < layout_.blocks; ++block)
      blocks_.push_back(std::make_unique<ScanBlock>(spec_, layout_.tiles, piece_elements_));
  }

  int blocks() const override { return layout_.blocks; }
  std::uint64_t block_elements() const override { return layout_.tiles * tile; }

  std::span<std::byte> input(int block, std::uint64_t offset, std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device_.activate();
    return {ring_.acquire(block), elements * size_of(spec_.input.type)};
  }

  void load(int block, std::uint64_t offset, std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device_.activate();
    ScanBlock& target = at(block);
    target.load(ring_.held(block), offset, elements);
    ring_.release(block, target.stream());
  }

  Accumulator total(int block, std::uint64_t elements) override {
    if (elements == 0) return Accumulator::empty();
    device_.activate();
    return at(block).total(elements);
  }

  std::optional<std::uint64_t> scan(int block, std::uint64_t first_index, std::uint64_t elements,
                                    const Accumulator& before) override {
    if (elements == 0) return std::nullopt;
    device_.activate();
    const auto place = at(block).scan(elements, before);
    if (!place) return std::nullopt;
    return first_index + *place;
  }

  std::span<const std::byte> output(int block, std::uint64_t offset,
                                    std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device_.activate();
    return at(block).output(offset, elements);
  }

 private:
  ScanBlock& at(int block) { return *blocks_.at(static_cast<std::size_t>(block)); }

  void validate_piece(int block, std::uint64_t offset, std::uint64_t elements) const {
    if (block >= 0 && block < layout_.blocks && elements <= piece_elements_ &&
        offset <= block_elements() - elements)
      return;
    throw Error("a piece of " + std::to_string(elements) + " elements at " +
                    std::to_string(offset) + " does not fit block " + std::to_string(block),
                std::to_string(layout_.blocks) + " blocks of " + std::to_string(block_elements()) +
                    " elements, pieces of " + std::to_string(piece_elements_),
                "");
  }

  Device device_;
  ScanSpec spec_;
  ScanLayout layout_;
  std::uint64_t piece_elements_;
  InputRing ring_;
  std::vector<std::unique_ptr<ScanBlock>> blocks_;
};

}  // namespace

std::unique_ptr<ScanEngine> make_scan_engine(const Device& device, const ScanPlan& plan) {
  return std::make_unique<CudaScanEngine>(device, plan);
}

}  // namespace warpfold::cuda
