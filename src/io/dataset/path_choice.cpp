#include "io/dataset/path_choice.hpp"

#include "io/filters/filter_step.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// The index of chunks is kept in memory, 16 bytes each.
constexpr std::uint64_t max_chunks = std::uint64_t{1} << 25;
/// Each takes memory for what it leaves to the next one; real pipelines have three or four.
constexpr std::size_t max_filters = 8;
/// A slab has as many, which takes at least a chunk.
constexpr std::uint64_t max_chunk_bytes = std::uint64_t{1} << 30;

std::string reason_against_chunks(const DatasetInfo& info) {
  if (chunk_bytes_of(info) > max_chunk_bytes) return "its chunks have more than 1 GiB";
  if (grid_of(info).chunks() > max_chunks) {
    return "it has more than " + std::to_string(max_chunks) + " chunks";
  }
  if (info.filters.size() > max_filters) {
    return "it has more than " + std::to_string(max_filters) + " filters";
  }
  const std::string undecodable = undecodable_filters(info.filters);
  return undecodable.empty() ? "" : "warpfold cannot undo " + undecodable;
}

std::string reason_against_bytes(const DatasetInfo& info) {
  if (info.file_offset) return "";
  return info.stored_bytes == 0 ? "nothing was ever written, so all elements are the fill value"
                                : "its stored size is not that of its elements";
}

/// Why neither byte ranges nor chunks of the file are its elements, or empty.
std::string reason_for_library(const DatasetInfo& info, bool exact) {
  if (info.elements == 0) return "it has no elements";
  if (!exact) return "its integers are narrower than their bytes";
  switch (info.layout) {
    case Layout::compact:
      return "its elements lie in the object's header";
    case Layout::external:
      return "its elements lie in other files";
    case Layout::virtual_:
      return "its elements are those of other datasets";
    case Layout::chunked:
      return reason_against_chunks(info);
    case Layout::contiguous:
      break;
  }
  return reason_against_bytes(info);
}

std::string reason_against(const DatasetInfo& info) {
  switch (info.path) {
    case ReadPath::direct:
      return info.layout == Layout::chunked ? "its chunks have no filters" : "it has no chunks";
    case ReadPath::chunk:
      return "its chunks are filtered";
    default:
      return info.path_reason;
  }
}

}  // namespace

void choose_path(DatasetInfo& info, bool exact) {
  info.path_reason = reason_for_library(info, exact);
  if (!info.path_reason.empty()) {
    info.path = ReadPath::library;
  } else {
    info.path = info.filters.empty() ? ReadPath::direct : ReadPath::chunk;
  }
}

void take_path(DatasetInfo& info, ReadPath wanted, const std::string& problem) {
  if (wanted == ReadPath::automatic || wanted == info.path) return;
  if (wanted == ReadPath::library) {
    info.path = ReadPath::library;
    info.path_reason = "it was asked for";
    return;
  }
  const std::string name = wanted == ReadPath::direct ? "direct" : "chunk";
  throw usage_error(problem,
                    reason_against(info) + ", so the path '" + name + "' is not open to it",
                    "Let the path be chosen automatically.");
}

}  // namespace warpfold::io
