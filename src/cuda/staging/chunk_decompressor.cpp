#include "cuda/staging/chunk_decompressor.hpp"

#include <algorithm>
#include <functional>

#include "cuda/inflate/inflate.hpp"
#include "cuda/lz4/lz4.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {
namespace {

class ZlibDecompressor final : public ChunkDecompressor {
 public:
  ZlibDecompressor(const CompressedForm& form, std::uint64_t chunks)
      : chunk_bytes_(static_cast<std::uint32_t>(form.chunk_bytes)),
        memory_(device_bytes(chunks)),
        host_streams_(chunks * sizeof(inflate::InflateStream)) {
    Scratch scratch(memory_.data());
    parts_ = cut(scratch, chunks);
  }

  static std::uint64_t device_bytes(std::uint64_t chunks) {
    Scratch counter;
    cut(counter, chunks);
    return counter.bytes();
  }

  void add(const std::byte* stored, std::uint32_t bytes, std::byte* out) override {
    const std::uint64_t unaligned =
        reinterpret_cast<std::uintptr_t>(stored) % alignof(std::uint32_t);
    chunks_.push_back({{reinterpret_cast<const std::uint32_t*>(stored - unaligned),
                        reinterpret_cast<std::uint8_t*>(out), static_cast<std::uint32_t>(unaligned),
                        bytes, chunk_bytes_},
                       chunks_.size()});
  }

  /// The longest streams come first.
  void start(std::uint64_t in_flight, cudaStream_t stream) override {
    std::ranges::sort(chunks_, std::greater(), [](const Chunk& each) { return each.stream.bytes; });
    auto* const streams = reinterpret_cast<inflate::InflateStream*>(host_streams_.data());
    std::ranges::transform(chunks_, streams, &Chunk::stream);
    copy_to_device(parts_.streams, streams, chunks_.size() * sizeof(*streams), stream);
    fill_bytes(parts_.refused, 0, sizeof(*parts_.refused), stream);
    kernels::inflate_streams({.streams = parts_.streams,
                              .outcomes = parts_.outcomes,
                              .count = static_cast<std::uint32_t>(chunks_.size()),
                              .next = parts_.next,
                              .refused = parts_.refused},
                             in_flight, stream);
  }

  std::vector<std::size_t> refused(cudaStream_t stream) override {
    std::vector<std::size_t> refused;
    if (downloaded_value<std::uint32_t>(parts_.refused, stream) == 0) return refused;
    const auto outcomes =
        downloaded_array<inflate::InflateOutcome>(parts_.outcomes, chunks_.size(), stream);
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (outcomes[i].status != inflate::InflateStatus::good) refused.push_back(chunks_[i].number);
    return refused;
  }

  void clear() override { chunks_.clear(); }

 private:
  struct Chunk {
    inflate::InflateStream stream;
    std::size_t number;  ///< in the order they were added
  };
  /// Parts of its device memory.
  struct Parts {
    inflate::InflateStream* streams;
    inflate::InflateOutcome* outcomes;
    std::uint32_t* next;
    std::uint32_t* refused;
  };

  static Parts cut(Scratch& memory, std::uint64_t chunks) {
    return {memory.take<inflate::InflateStream>(chunks),
            memory.take<inflate::InflateOutcome>(chunks), memory.take<std::uint32_t>(1),
            memory.take<std::uint32_t>(1)};
  }

  std::uint32_t chunk_bytes_;
  DeviceBuffer memory_;
  Parts parts_;
  std::vector<Chunk> chunks_;
  PinnedBuffer host_streams_;
};

class Lz4Decompressor final : public ChunkDecompressor {
 public:
  Lz4Decompressor(const CompressedForm& form, std::uint64_t chunks)
      : form_(lz4_form(form)),
        memory_(device_bytes(form, chunks)),
        host_chunks_(chunks * sizeof(lz4::Chunk)) {
    Scratch scratch(memory_.data());
    parts_ = cut(scratch, form, chunks);
    kernels::load_lz4(form_.bit_element_bytes);
  }

  static std::uint64_t device_bytes(const CompressedForm& form, std::uint64_t chunks) {
    Scratch counter;
    cut(counter, form, chunks);
    return counter.bytes();
  }

  void add(const std::byte* stored, std::uint32_t bytes, std::byte* out) override {
    reinterpret_cast<lz4::Chunk*>(host_chunks_.data())[chunks_++] = {
        reinterpret_cast<const std::uint8_t*>(stored), reinterpret_cast<std::uint8_t*>(out), bytes};
  }

  void start(std::uint64_t, cudaStream_t stream) override {
    const auto count = static_cast<std::uint32_t>(chunks_);
    copy_to_device(parts_.chunks, host_chunks_.data(), chunks_ * sizeof(lz4::Chunk), stream);
    fill_bytes(parts_.refused.of_chunks, 0, chunks_ * sizeof(std::uint32_t), stream);
    fill_bytes(parts_.refused.chunks, 0, sizeof(std::uint32_t), stream);
    kernels::list_lz4_blocks({parts_.chunks, count, form_, parts_.blocks, parts_.refused}, stream);
    kernels::decode_lz4_blocks(
        {parts_.blocks, count * form_.blocks, form_.bit_element_bytes, parts_.next, parts_.refused},
        stream);
  }

  std::vector<std::size_t> refused(cudaStream_t stream) override {
    std::vector<std::size_t> refused;
    if (downloaded_value<std::uint32_t>(parts_.refused.chunks, stream) == 0) return refused;
    const auto marks = downloaded_array<std::uint32_t>(parts_.refused.of_chunks, chunks_, stream);
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (marks[i] != 0) refused.push_back(i);
    return refused;
  }

  void clear() override { chunks_ = 0; }

 private:
  /// Parts of its device memory.
  struct Parts {
    lz4::Chunk* chunks;
    lz4::Block* blocks;
    std::uint32_t* next;
    kernels::Lz4Refusals refused;
  };

  static lz4::ChunkForm lz4_form(const CompressedForm& form) {
    const bool has_planes = form.compression == Compression::bitshuffled_lz4;
    return {static_cast<std::uint32_t>(form.chunk_bytes),
            static_cast<std::uint32_t>(form.chunk_blocks),
            has_planes ? static_cast<std::uint32_t>(form.element_bytes) : 0};
  }

  static Parts cut(Scratch& memory, const CompressedForm& form, std::uint64_t chunks) {
    return {memory.take<lz4::Chunk>(chunks),
            memory.take<lz4::Block>(chunks * form.chunk_blocks),
            memory.take<std::uint32_t>(1),
            {memory.take<std::uint32_t>(chunks), memory.take<std::uint32_t>(1)}};
  }

  lz4::ChunkForm form_;
  DeviceBuffer memory_;
  Parts parts_;
  PinnedBuffer host_chunks_;
  std::size_t chunks_ = 0;
};

}  // namespace

std::unique_ptr<ChunkDecompressor> make_decompressor(const CompressedForm& form,
                                                     std::uint64_t chunks) {
  if (form.compression == Compression::zlib)
    return std::make_unique<ZlibDecompressor>(form, chunks);
  return std::make_unique<Lz4Decompressor>(form, chunks);
}

std::uint64_t decompressor_bytes(const CompressedForm& form, std::uint64_t chunks) {
  return form.compression == Compression::zlib ? ZlibDecompressor::device_bytes(chunks)
                                               : Lz4Decompressor::device_bytes(form, chunks);
}

}  // namespace warpfold::cuda
