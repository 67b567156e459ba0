#include "cuda/scan_engine.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/scan_arithmetic.hpp"
#include "cuda/chunk_loader.hpp"
#include "cuda/copy.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/event.hpp"
#include "cuda/kernels/block_view.hpp"
#include "cuda/kernels/tile_totals.hpp"
#include "cuda/scan_method.hpp"
#include "cuda/scratch.hpp"
#include "cuda/span_timer.hpp"
#include "cuda/staging_buffer.hpp"
#include "cuda/stream.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::cuda {
namespace {

/// One is loaded, one scanned and one written, while another changes hands.
constexpr int most_blocks = 4;
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
  int loaders;          ///< of chunks
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

/// How many chunk loaders, one for each reader at best, may share half the memory: at least one
/// where pieces come as chunks.
int loaders_that_fit(const ScanPlan& plan, std::uint64_t limit) {
  if (plan.staging_bytes == 0) return 0;
  const std::uint64_t fitting = limit / 2 / ChunkLoader::buffer_bytes(plan.staging_bytes);
  return static_cast<int>(
      std::clamp<std::uint64_t>(fitting, 1, static_cast<unsigned>(std::max(plan.readers, 1))));
}

/// As many blocks as can be under way together, each as large as then fits.
ScanLayout layout_of(const ScanPlan& plan, const ScanMethod& method, std::uint64_t limit) {
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(ceil_div(plan.partition_elements, tile), 1, kernels::most_tiles);
  const int loaders = loaders_that_fit(plan, limit);
  const std::uint64_t loading =
      loaders == 0 ? 0
                   : static_cast<unsigned>(loaders) * ChunkLoader::buffer_bytes(plan.staging_bytes);
  const std::uint64_t for_blocks = limit - std::min(limit, loading);
  for (int blocks = most_blocks; blocks > 0; --blocks) {
    const std::uint64_t share = for_blocks / static_cast<unsigned>(blocks);
    const std::uint64_t tiles = tiles_that_fit(plan.spec, method, wanted, share);
    if (tiles > 0) return {blocks, tiles, loaders};
  }
  const std::string least = std::to_string(loading + block_bytes(plan.spec, method, 1));
  throw Error("the GPU memory allowed is too little to scan in",
              std::to_string(limit) + " bytes, and one tile takes " + least,
              "raise --device-memory to " + least + " or more");
}

/// A block in device memory. Its elements come and go in others' streams, its scans are in its own.
class ScanBlock {
 public:
  ScanBlock(const ScanSpec& spec, std::uint64_t tiles, int loads, const TimedEvent& epoch)
      : spec_(spec),
        method_(make_scan_method(spec)),
        memory_(block_bytes(spec, *method_, tiles)),
        loaded_(static_cast<std::size_t>(loads)),
        scans_(epoch) {
    Scratch scratch(memory_.data());
    parts_ = cut(scratch, spec, *method_, tiles);
  }

  std::byte* input() const { return parts_.input; }
  const std::byte* output() const { return parts_.output; }

  /// To be called behind each piece that comes in the `number`-th of the streams that load.
  void note_load(int number, cudaStream_t stream) {
    loaded_.at(static_cast<std::size_t>(number)).record(stream);
  }

  Accumulator total(std::uint64_t elements) {
    for (const Event& loaded : loaded_) loaded.delay(stream_.get());
    scans_.begin(stream_.get());
    const Accumulator total = method_->total(view(elements), parts_.scratch, stream_.get());
    scans_.end(stream_.get(), elements * size_of(spec_.input.type));
    return total;
  }

  std::optional<std::uint64_t> scan(std::uint64_t elements, const Accumulator& before) {
    scans_.begin(stream_.get());
    const auto overflow = method_->scan(view(elements), parts_.scratch, before, stream_.get());
    scans_.end(stream_.get(), 0);
    scanned_.record(stream_.get());
    return overflow;
  }

  /// What is put into `stream` later meets the prefixes.
  void delay_until_scanned(cudaStream_t stream) const { scanned_.delay(stream); }

  SpanTimer& scans() { return scans_; }

 private:
  kernels::BlockView view(std::uint64_t elements) const {
    return {parts_.input, parts_.output, elements, spec_.input, spec_.output};
  }

  ScanSpec spec_;
  std::unique_ptr<ScanMethod> method_;
  DeviceBuffer memory_;
  BlockParts parts_{};
  std::vector<Event> loaded_;
  Event scanned_;
  SpanTimer scans_;
  Stream stream_;
};

/// A stream in which pieces are loaded, by a reader or, where there is little memory for chunks, by
/// several.
struct LoadStream {
  std::mutex mutex;
  std::optional<ChunkLoader> loader;
  Stream stream;
};

/// A reader's two staging buffers: one is filled while the other is copied.
class Reader {
 public:
  Reader(std::uint64_t bytes, const TimedEvent& epoch)
      : buffers_{StagingBuffer(bytes, epoch), StagingBuffer(bytes, epoch)} {}

  /// Free to be filled.
  std::span<std::byte> fill() {
    filled_ = true;
    buffers_[turn_].wait();
    return buffers_[turn_].memory();
  }

  /// What was filled last, to be copied.
  StagingBuffer& take() {
    if (!std::exchange(filled_, false))
      throw Error("a piece was loaded before its memory was asked for", "", "");
    return buffers_[std::exchange(turn_, 1 - turn_)];
  }

  std::array<StagingBuffer, 2>& buffers() { return buffers_; }

 private:
  std::array<StagingBuffer, 2> buffers_;
  std::size_t turn_ = 0;
  bool filled_ = false;
};

struct Writer {
  Writer(std::uint64_t bytes, const TimedEvent& epoch) : buffer(bytes, epoch) {}

  StagingBuffer buffer;
  Stream stream;
};

class CudaScanEngine final : public ScanEngine {
 public:
  CudaScanEngine(const Device& device, const ScanPlan& plan)
      : device_(device),
        spec_(plan.spec),
        layout_(layout_of(plan, *make_scan_method(plan.spec), device.memory_limit())),
        piece_elements_(std::clamp(round_up(plan.slab_elements, tile), tile, block_elements())),
        staging_bytes_(plan.staging_bytes) {
    start_timing(epoch_);
    const int readers = std::max(plan.readers, 1);
    const int loads = plan.staging_bytes == 0 ? readers : layout_.loaders;
    for (int block = 0; block < layout_.blocks; ++block)
      blocks_.push_back(std::make_unique<ScanBlock>(spec_, layout_.tiles, loads, epoch_));
    for (int load = 0; load < loads; ++load) {
      load_streams_.push_back(std::make_unique<LoadStream>());
      if (plan.staging_bytes != 0) load_streams_.back()->loader.emplace(plan.staging_bytes);
    }
    const std::uint64_t staged_bytes = plan.staging_bytes == 0
                                           ? piece_elements_ * size_of(spec_.input.type)
                                           : ChunkLoader::buffer_bytes(plan.staging_bytes);
    for (int reader = 0; reader < readers; ++reader)
      readers_.push_back(std::make_unique<Reader>(staged_bytes, epoch_));
    for (int writer = 0; writer < std::max(plan.writers, 1); ++writer)
      writers_.push_back(std::make_unique<Writer>(piece_elements_ * size_of(spec_.output), epoch_));
  }

  int blocks() const override { return layout_.blocks; }
  std::uint64_t block_elements() const override { return layout_.tiles * tile; }

  std::span<std::byte> input(int reader, int block, std::uint64_t offset,
                             std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device_.activate();
    return at(readers_, reader).fill().first(elements * size_of(spec_.input.type));
  }

  void load(int reader, int block, std::uint64_t offset, std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device_.activate();
    const std::uint64_t element_bytes = size_of(spec_.input.type);
    StagingBuffer& staged = at(readers_, reader).take();
    with_load_stream(reader, at(blocks_, block), [&](LoadStream& load, std::byte* to) {
      staged.begin_copy(load.stream.get());
      copy_to_device(to + offset * element_bytes, staged.memory().data(), elements * element_bytes,
                     load.stream.get());
      staged.end_copy(load.stream.get(), elements * element_bytes);
    });
  }

  std::span<std::byte> staging(int reader) override {
    device_.activate();
    return at(readers_, reader).fill().first(staging_bytes_);
  }

  void load(int reader, int block, const StagedChunks& piece) override {
    if (piece.target.elements > block_elements())
      throw Error("a block of " + std::to_string(piece.target.elements) + " elements is too large",
                  std::to_string(block_elements()) + " fit", "");
    device_.activate();
    const std::size_t element_bytes = size_of(spec_.input.type);
    StagingBuffer& staged = at(readers_, reader).take();
    with_load_stream(reader, at(blocks_, block), [&](LoadStream& load, std::byte* to) {
      load.loader.value().copy(staged, piece, {}, element_bytes, load.stream.get());
      load.loader->assemble(piece, element_bytes, to, load.stream.get());
    });
  }

  Accumulator total(int block, std::uint64_t elements) override {
    if (elements == 0) return Accumulator::empty();
    device_.activate();
    return at(blocks_, block).total(elements);
  }

  std::optional<std::uint64_t> scan(int block, std::uint64_t first_index, std::uint64_t elements,
                                    const Accumulator& before) override {
    if (elements == 0) return std::nullopt;
    device_.activate();
    const auto place = at(blocks_, block).scan(elements, before);
    if (!place) return std::nullopt;
    return first_index + *place;
  }

  std::span<const std::byte> output(int writer, int block, std::uint64_t offset,
                                    std::uint64_t elements) override {
    validate_piece(block, offset, elements);
    device_.activate();
    const ScanBlock& from = at(blocks_, block);
    auto& [buffer, stream] = at(writers_, writer);
    const std::uint64_t element_bytes = size_of(spec_.output);
    const std::span<std::byte> memory = buffer.memory();
    from.delay_until_scanned(stream.get());
    buffer.begin_copy(stream.get());
    copy_to_host(memory.data(), from.output() + offset * element_bytes, elements * element_bytes,
                 stream.get());
    buffer.end_copy(stream.get(), elements * element_bytes);
    buffer.wait();
    return memory.first(elements * element_bytes);
  }

  std::vector<EngineTiming> timings() const override {
    device_.activate();
    std::vector<SpanTimer*> loads;
    std::vector<SpanTimer*> scans;
    std::vector<SpanTimer*> outputs;
    for (const auto& reader : readers_)
      for (StagingBuffer& buffer : reader->buffers()) loads.push_back(&buffer.copies());
    for (const auto& block : blocks_) scans.push_back(&block->scans());
    for (const auto& writer : writers_) outputs.push_back(&writer->buffer.copies());
    return {timing_of("copy to GPU", loads), timing_of("scan", scans),
            timing_of("copy from GPU", outputs)};
  }

 private:
  template <class T>
  static T& at(const std::vector<std::unique_ptr<T>>& all, int number) {
    return *all.at(static_cast<std::size_t>(number));
  }

  /// Runs body(stream, the block's elements) for a reader.
  template <class Body>
  void with_load_stream(int reader, ScanBlock& block, Body&& body) {
    const int number = reader % static_cast<int>(load_streams_.size());
    LoadStream& load = at(load_streams_, number);
    const std::lock_guard lock(load.mutex);
    body(load, block.input());
    block.note_load(number, load.stream.get());
  }

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
  std::uint64_t staging_bytes_;
  TimedEvent epoch_;
  std::vector<std::unique_ptr<ScanBlock>> blocks_;
  std::vector<std::unique_ptr<LoadStream>> load_streams_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::vector<std::unique_ptr<Writer>> writers_;
};

}  // namespace

std::unique_ptr<ScanEngine> make_scan_engine(const Device& device, const ScanPlan& plan) {
  return std::make_unique<CudaScanEngine>(device, plan);
}

}  // namespace warpfold::cuda
