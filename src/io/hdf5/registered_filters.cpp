#include "io/hdf5/registered_filters.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "io/filters/bitshuffle.hpp"
#include "io/filters/block_decoder.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {
namespace {

/// HDF5's chunks have less.
constexpr std::uint64_t max_decoded_bytes = std::uint64_t{1} << 32;

/// Memory that HDF5 takes over, or that is given back.
class LibraryMemory {
 public:
  explicit LibraryMemory(std::size_t bytes)
      : size_(bytes), memory_(H5allocate_memory(bytes, false)) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  ~LibraryMemory() { H5free_memory(memory_); }
  LibraryMemory(const LibraryMemory&) = delete;
  LibraryMemory& operator=(const LibraryMemory&) = delete;

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_), size_}; }
  void* release() { return std::exchange(memory_, nullptr); }

 private:
  std::size_t size_;
  void* memory_;
};

bool keeps_size(const Filter& filter) {
  return filter.id == filter_id::bitshuffle &&
         bitshuffle_parameters(filter).compressor == BitshuffleCompressor::none;
}

/// Returns how many bytes a filter was given, as far as it says so.
std::optional<std::uint64_t> bytes_before(const Filter& filter, std::span<const std::byte> stored) {
  if (keeps_size(filter)) return stored.size();
  if (filter.id == filter_id::lz4 || filter.id == filter_id::bitshuffle)
    return BigEndianReader(stored).u64();
  return std::nullopt;
}

/// Buffer that HDF5 hands to a filter.
struct LibraryBuffer {
  std::size_t stored_bytes;
  std::size_t* allocated;
  void** memory;

  std::span<const std::byte> stored() const {
    return {static_cast<const std::byte*>(*memory), stored_bytes};
  }
};

std::size_t undo_into(std::uint64_t room, FilterStep& step, const LibraryBuffer& buffer) {
  LibraryMemory made(std::max<std::uint64_t>(room, 1));
  const std::span<const std::byte> bytes = step.undo(buffer.stored(), made.bytes());
  if (bytes.data() != made.bytes().data())
    std::memmove(made.bytes().data(), bytes.data(), bytes.size());
  H5free_memory(*buffer.memory);
  *buffer.allocated = made.bytes().size();
  *buffer.memory = made.release();
  return bytes.size();
}

/// Returns the bytes made, which are in the buffer's memory then. Throws DamagedBytes.
std::size_t undo(const Filter& filter, const LibraryBuffer& buffer) {
  const auto step = make_filter_step(filter);
  if (!step) throw DamagedBytes{"its filter has other parameters"};
  if (const auto bytes = bytes_before(filter, buffer.stored())) {
    if (*bytes > max_decoded_bytes) throw DamagedBytes{"it is longer than any chunk"};
    return undo_into(*bytes, *step, buffer);
  }
  for (std::uint64_t room = std::max<std::uint64_t>(4 * buffer.stored_bytes, 1 << 16);; room *= 4) {
    try {
      return undo_into(std::min(room, max_decoded_bytes), *step, buffer);
    } catch (const TooLong&) {
      if (room >= max_decoded_bytes) throw;
    }
  }
}

template <int id>
std::size_t undo_for_library(unsigned flags, std::size_t count, const unsigned parameters[],
                             std::size_t bytes, std::size_t* allocated, void** memory) noexcept {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return 0;
  try {
    return undo({id, "", true, {parameters, parameters + count}}, {bytes, allocated, memory});
  } catch (...) {
    return 0;
  }
}

template <int id>
bool register_one() {
  // HDF5 makes no dataset, not even for chunks in memory, with a filter that it can't encode.
  const H5Z_class2_t decoder{H5Z_CLASS_T_VERS,     id,      1,       1,
                             "warpfold's decoder", nullptr, nullptr, undo_for_library<id>};
  return H5Zregister(&decoder) >= 0;
}

}  // namespace

bool register_decoder(const Filter& filter) {
  if (!make_filter_step(filter)) return false;
  switch (filter.id) {
    case filter_id::lzf:
      return register_one<filter_id::lzf>();
    case filter_id::blosc:
      return register_one<filter_id::blosc>();
    case filter_id::blosc2:
      return register_one<filter_id::blosc2>();
    case filter_id::lz4:
      return register_one<filter_id::lz4>();
    case filter_id::bitshuffle:
      return register_one<filter_id::bitshuffle>();
    case filter_id::zstd:
      return register_one<filter_id::zstd>();
    default:
      return false;
  }
}

}  // namespace warpfold::io
