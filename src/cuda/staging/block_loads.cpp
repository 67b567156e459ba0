#include "cuda/staging/block_loads.hpp"

#include <algorithm>
#include <utility>

#include "cuda/runtime/copy.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

std::span<std::byte> BlockLoads::Reader::fill() {
  filled_ = true;
  buffers_[turn_].wait();
  return buffers_[turn_].memory();
}

StagingBuffer& BlockLoads::Reader::take() {
  if (!std::exchange(filled_, false))
    throw Error("a piece was loaded before its memory was asked for", "", "");
  return buffers_[std::exchange(turn_, 1 - turn_)];
}

int BlockLoads::streams(const BlockPlan& plan, const BlockLayout& layout) {
  return plan.staging_bytes == 0 ? std::max(plan.readers, 1) : layout.loaders;
}

BlockLoads::BlockLoads(const BlockPlan& plan, const BlockLayout& layout,
                       std::uint64_t piece_elements, const TimedEvent& epoch)
    : element_bytes_(plan.element_bytes), staging_bytes_(plan.staging_bytes) {
  for (int stream = 0; stream < streams(plan, layout); ++stream) {
    load_streams_.push_back(std::make_unique<LoadStream>());
    if (staging_bytes_ != 0) load_streams_.back()->loader.emplace(staging_bytes_);
  }
  const std::uint64_t staged_bytes = staging_bytes_ == 0
                                         ? piece_elements * element_bytes_
                                         : ChunkLoader::buffer_bytes(staging_bytes_);
  for (int reader = 0; reader < std::max(plan.readers, 1); ++reader)
    readers_.push_back(std::make_unique<Reader>(staged_bytes, epoch));
}

std::span<std::byte> BlockLoads::input(int reader, std::uint64_t elements) {
  return this->reader(reader).fill().first(elements * element_bytes_);
}

void BlockLoads::load(int reader, LoadTarget& block, std::uint64_t offset, std::uint64_t elements) {
  StagingBuffer& staged = this->reader(reader).take();
  with_load_stream(reader, block, [&](LoadStream& load, std::byte* to) {
    staged.begin_copy(load.stream.get());
    copy_to_device(to + offset * element_bytes_, staged.memory().data(), elements * element_bytes_,
                   load.stream.get());
    staged.end_copy(load.stream.get(), elements * element_bytes_);
  });
}

std::span<std::byte> BlockLoads::staging(int reader) {
  return this->reader(reader).fill().first(staging_bytes_);
}

void BlockLoads::load(int reader, LoadTarget& block, const StagedChunks& piece) {
  StagingBuffer& staged = this->reader(reader).take();
  with_load_stream(reader, block, [&](LoadStream& load, std::byte* to) {
    load.loader.value().copy(staged, piece, {}, element_bytes_, load.stream.get());
    load.loader->assemble(piece, element_bytes_, to, load.stream.get());
  });
}

std::vector<SpanTimer*> BlockLoads::timers() const {
  std::vector<SpanTimer*> timers;
  for (const auto& reader : readers_)
    for (StagingBuffer& buffer : reader->buffers()) timers.push_back(&buffer.copies());
  return timers;
}

template <class Body>
void BlockLoads::with_load_stream(int reader, LoadTarget& block, Body&& body) {
  const int number = reader % static_cast<int>(load_streams_.size());
  LoadStream& load = *load_streams_[static_cast<std::size_t>(number)];
  const std::lock_guard lock(load.mutex);
  body(load, block.elements());
  block.note_load(number, load.stream.get());
}

}  // namespace warpfold::cuda
