#include "pipeline/output/chunk_store.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/message.hpp"

namespace warpfold::pipeline {
namespace {

/// Precedes elements in a message.
struct ElementsHead {
  std::uint64_t byte;   ///< place in the owner's memory
  std::uint64_t bytes;  ///< number of bytes that follow
};

/// Whole elements fit: their sizes divide this and that of a head.
constexpr std::size_t message_bytes = std::size_t{1} << 16;

}  // namespace

ChunkStore::ChunkStore(const ChunkGrid& grid, std::size_t element_bytes,
                       const mpi::Communicator& communicator)
    : grid_(grid),
      element_bytes_(element_bytes),
      share_(share(grid, communicator)),
      communicator_(communicator),
      chunks_(share_ * grid.chunk_elements() * element_bytes),
      outboxes_(static_cast<std::size_t>(communicator.size())),
      writer_([this](std::uint64_t byte, std::span<const std::byte> elements) {
        write(byte, elements);
      }) {}

ChunkStore::Place ChunkStore::place_of(std::uint64_t index) const {
  Place place;
  std::uint64_t chunk_stride = 1;
  std::uint64_t element_stride = 1;
  for (int d = grid_.dimensions - 1; d >= 0; --d) {
    const std::uint64_t at = index % grid_.extent[d];
    const std::uint64_t in_chunk = at % grid_.chunk_extent[d];
    if (d == grid_.dimensions - 1)
      place.adjacent = std::min(grid_.chunk_extent[d] - in_chunk, grid_.extent[d] - at);
    place.chunk += at / grid_.chunk_extent[d] * chunk_stride;
    place.element += in_chunk * element_stride;
    chunk_stride *= grid_.chunks_along(d);
    element_stride *= grid_.chunk_extent[d];
    index /= grid_.extent[d];
  }
  return place;
}

std::uint64_t ChunkStore::byte_of(const Place& place) const {
  return (place.chunk % share_ * grid_.chunk_elements() + place.element) * element_bytes_;
}

void ChunkStore::write(std::uint64_t byte, std::span<const std::byte> elements) {
  while (!elements.empty()) {
    const Place place = place_of(byte / element_bytes_);
    const auto row =
        elements.first(std::min<std::uint64_t>(elements.size(), place.adjacent * element_bytes_));
    const auto owner = static_cast<std::size_t>(place.chunk / share_);
    if (owner == static_cast<std::size_t>(communicator_.rank()))
      std::memcpy(&chunks_.span()[byte_of(place)], row.data(), row.size());
    else
      outboxes_[owner].put(byte_of(place), row);
    byte += row.size();
    elements = elements.subspan(row.size());
  }
}

void ChunkStore::read(ElementRange range, std::span<std::byte> out) const {
  std::memcpy(out.data(), &chunks_.span()[byte_of(place_of(range.first))], out.size());
}

void ChunkStore::exchange() {
  std::vector<std::vector<std::span<const std::byte>>> messages;
  for (const Outbox& outbox : outboxes_) messages.push_back(outbox.messages());
  mpi::exchange(
      messages, message_bytes, [this](auto message) { take(message); }, communicator_);
  outboxes_.clear();
}

void ChunkStore::take(std::span<const std::byte> message) {
  while (!message.empty()) {
    ElementsHead head{};
    std::memcpy(&head, message.data(), sizeof(head));
    std::memcpy(&chunks_.span()[head.byte], &message[sizeof(head)], head.bytes);
    message = message.subspan(sizeof(head) + head.bytes);
  }
}

void ChunkStore::Outbox::put(std::uint64_t byte, std::span<const std::byte> elements) {
  while (!elements.empty()) {
    std::byte* to = nullptr;
    ElementsHead head{byte, 0};
    {
      const std::lock_guard lock(mutex_);
      if (messages_.empty() || message_bytes - messages_.back().used <= sizeof(head))
        messages_.push_back({std::make_unique_for_overwrite<std::byte[]>(message_bytes)});
      Message& message = messages_.back();
      to = &message.bytes[message.used];
      head.bytes = std::min(elements.size(), message_bytes - message.used - sizeof(head));
      message.used += sizeof(head) + head.bytes;
    }
    std::memcpy(to, &head, sizeof(head));
    std::memcpy(to + sizeof(head), elements.data(), head.bytes);
    byte += head.bytes;
    elements = elements.subspan(head.bytes);
  }
}

std::vector<std::span<const std::byte>> ChunkStore::Outbox::messages() const {
  std::vector<std::span<const std::byte>> messages;
  for (const Message& each : messages_) messages.emplace_back(each.bytes.get(), each.used);
  return messages;
}

}  // namespace warpfold::pipeline
