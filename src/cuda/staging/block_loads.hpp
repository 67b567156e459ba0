#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/staging/block_layout.hpp"
#include "cuda/staging/chunk_loader.hpp"
#include "cuda/staging/staging_buffer.hpp"

namespace warpfold::cuda {

/// A block's stored elements in device memory, brought by others' streams.
class LoadTarget {
 public:
  /// Takes the block's memory and the number of streams that load it.
  LoadTarget(std::byte* elements, int loads)
      : elements_(elements), loaded_(static_cast<std::size_t>(loads)) {}

  std::byte* elements() const { return elements_; }

  /// To be called behind each piece that comes in the `number`-th of the streams.
  void note_load(int number, cudaStream_t stream) {
    loaded_.at(static_cast<std::size_t>(number)).record(stream);
  }

  /// Makes later work in `stream` wait until all elements are loaded.
  void delay_until_loaded(cudaStream_t stream) const {
    for (const Event& loaded : loaded_) loaded.delay(stream);
  }

 private:
  std::byte* elements_;
  std::vector<Event> loaded_;
};

/// The ways of pieces from readers to blocks.
class BlockLoads {
 public:
  BlockLoads(const BlockEnginePlan& plan, const BlockLayout& layout, std::uint64_t piece_elements,
             const TimedEvent& time_origin);

  /// Returns how many streams load, given a plan and its layout.
  static int streams(const BlockEnginePlan& plan, const BlockLayout& layout);

  /// Returns memory for a reader's next piece, of `elements` elements where pieces are packed. May
  /// wait for its earlier loads.
  std::span<std::byte> buffer(int reader, std::uint64_t elements);

  /// Starts bringing what the reader's memory holds to the block; where that completes a block that
  /// is to be decompressed, waits until it is. Throws Error for what can't be decompressed.
  void load(int reader, int block, LoadTarget& target, const StagedChunks& piece);

  std::vector<SpanTimer*> timers() const;
  std::vector<SpanTimer*> decompressing_timers();

 private:
  /// A stream in which pieces are loaded: by a reader or, where there is little memory for chunks,
  /// by several; or, to be decompressed, those of a block.
  struct LoadStream {
    explicit LoadStream(const TimedEvent& time_origin) : decompressing(time_origin) {}

    std::mutex mutex;
    std::optional<ChunkLoader> loader;
    std::uint64_t chunks = 0;  ///< chunks of a block that is to be decompressed
    SpanTimer decompressing;
    Stream stream;
  };

  StagingBuffers& reader(int number) { return *readers_.at(static_cast<std::size_t>(number)); }

  bool add(LoadStream& load, StagingBuffer& from, const StagedChunks& piece);
  void decompress(LoadStream& load, std::byte* to);

  static void copy_run(StagingBuffer& from, const StagedChunks& piece, std::size_t element_bytes,
                       std::byte* to, cudaStream_t stream);

  /// Runs body(load stream, the block's elements) for a reader.
  template <class Body>
  void with_load_stream(int reader, LoadTarget& block, Body&& body);

  std::size_t element_bytes_;
  CompressedChunks compressed_;
  bool decompresses_;
  std::uint64_t buffer_bytes_;  ///< bytes of a piece; 0 if pieces are packed
  std::vector<std::unique_ptr<LoadStream>> load_streams_;
  std::vector<std::unique_ptr<StagingBuffers>> readers_;
};

}  // namespace warpfold::cuda
