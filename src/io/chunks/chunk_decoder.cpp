#include "io/chunks/chunk_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "io/filters/compressed_form.hpp"
#include "io/filters/steps.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Returns the most bytes that a filter makes of `bytes`.
std::uint64_t max_bytes_after(const Filter& filter, std::uint64_t bytes) {
  switch (filter.id) {
    case filter_id::shuffle:
      return bytes;
    case filter_id::fletcher32:
      return bytes + fletcher32_bytes;
    default:
      // No compressor's headers and sizes of blocks take more.
      return bytes + bytes / 8 + 65536;
  }
}

bool begins_with_plain_shuffle(const std::vector<Filter>& filters, std::size_t element_bytes,
                               std::uint64_t chunk_bytes) {
  return !filters.empty() && filters[0].id == filter_id::shuffle &&
         filters[0].parameters.size() == 1 && filters[0].parameters[0] == element_bytes &&
         chunk_bytes % element_bytes == 0;
}

bool is_skipped(std::size_t filter, std::uint32_t skipped_filters) {
  return (skipped_filters >> filter & 1U) != 0;
}

bool are_checksums(std::span<const Filter> filters) {
  return std::ranges::all_of(
      filters, [](const Filter& filter) { return filter.id == filter_id::fletcher32; });
}

/// Runs `undo`, which may throw DamagedBytes.
template <class Undo>
auto with_damage_reported(const std::string& problem, Undo&& undo) {
  try {
    return undo();
  } catch (const DamagedBytes& damage) {
    throw Error(problem, damage.why, "Copy the file again from its source.");
  }
}

}  // namespace

std::optional<CompressedForm> left_form(const std::vector<Filter>& filters,
                                        std::size_t element_bytes, std::uint64_t chunk_bytes) {
  const bool is_shuffled = begins_with_plain_shuffle(filters, element_bytes, chunk_bytes);
  const std::span left = std::span(filters).subspan(is_shuffled ? 1 : 0);
  if (left.empty() || !are_checksums(left.subspan(1))) return std::nullopt;
  return compressed_form(left[0], element_bytes, chunk_bytes);
}

ChunkDecoder::ChunkDecoder(const std::vector<Filter>& filters, std::size_t element_bytes,
                           std::uint64_t chunk_bytes, NarrowElements narrow, bool whole)
    : element_bytes_(element_bytes),
      chunk_bytes_(chunk_bytes),
      narrow_(narrow),
      leaves_shuffle_(!whole && narrow.kind == NarrowElements::Kind::whole &&
                      begins_with_plain_shuffle(filters, element_bytes, chunk_bytes)),
      moves_bytes_(element_bytes > 1) {
  std::uint64_t bytes = chunk_bytes;
  for (const Filter& filter : filters) {
    max_bytes_before_.push_back(bytes);
    bytes = max_bytes_after(filter, bytes);
    steps_.push_back(make_filter_step(filter));
    if (!steps_.back())
      throw Error("cannot undo the filter " + filter.name, "this build does not know it", "");
  }
}

bool ChunkDecoder::decode(std::span<const std::byte> stored, std::uint32_t skipped_filters,
                          std::span<std::byte> out, const std::string& problem) {
  return with_damage_reported(problem, [&] { return undo(stored, skipped_filters, out); });
}

ChunkDecoder::LeftCompressed ChunkDecoder::without_checksums(std::span<const std::byte> stored,
                                                             std::uint32_t skipped_filters,
                                                             const std::string& problem) {
  return with_damage_reported(problem, [&] {
    const auto bytes = undo_checksums(stored, skipped_filters);
    const bool compressed = !is_skipped(compressor(), skipped_filters);
    if (!compressed) require_chunk(bytes);
    if (bytes.empty()) require_chunk(steps_[compressor()]->undo(bytes, {}));
    return LeftCompressed{bytes, compressed, leaves_shuffle(skipped_filters) && moves_bytes_};
  });
}

std::span<const std::byte> ChunkDecoder::undo_checksums(std::span<const std::byte> stored,
                                                        std::uint32_t skipped_filters) {
  for (std::size_t i = steps_.size(); --i > compressor();)
    if (!is_skipped(i, skipped_filters)) stored = steps_[i]->undo(stored, {});
  return stored;
}

bool ChunkDecoder::undo(std::span<const std::byte> stored, std::uint32_t skipped_filters,
                        std::span<std::byte> out) {
  const bool shuffled = leaves_shuffle(skipped_filters);
  const std::size_t first = first_applied(shuffled ? 1 : 0, skipped_filters);
  std::span<const std::byte> bytes = stored;
  std::size_t idle = 0;
  for (std::size_t i = steps_.size(); i-- > first;) {
    if (is_skipped(i, skipped_filters)) continue;
    const std::span<std::byte> target = i == first ? out : scratch(idle, max_bytes_before_[i]);
    bytes = steps_[i]->undo(bytes, target);
    if (bytes.data() == target.data()) idle = 1 - idle;
  }
  require_chunk(bytes);
  if (bytes.data() != out.data()) std::memcpy(out.data(), bytes.data(), bytes.size());
  widen(narrow_, element_bytes_, out);
  return shuffled && moves_bytes_;
}

void ChunkDecoder::require_chunk(std::span<const std::byte> bytes) const {
  if (bytes.size() == chunk_bytes_) return;
  throw DamagedBytes{"it has " + std::to_string(bytes.size()) + " bytes without its filters, " +
                     std::to_string(chunk_bytes_) + " are a chunk"};
}

bool ChunkDecoder::leaves_shuffle(std::uint32_t skipped_filters) const {
  return leaves_shuffle_ && !is_skipped(0, skipped_filters);
}

/// Returns the first filter from `filter` on that was applied, or as many as there are filters.
std::size_t ChunkDecoder::first_applied(std::size_t filter, std::uint32_t skipped_filters) const {
  while (filter < steps_.size() && is_skipped(filter, skipped_filters)) ++filter;
  return filter;
}

std::span<std::byte> ChunkDecoder::scratch(std::size_t which, std::uint64_t bytes) {
  std::vector<std::byte>& memory = scratch_[which];
  if (memory.size() < bytes) memory.resize(bytes);
  return std::span(memory).first(bytes);
}

}  // namespace warpfold::io
