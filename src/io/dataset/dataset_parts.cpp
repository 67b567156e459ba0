#include "io/dataset/dataset_parts.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/base/text.hpp"
#include "core/layout/hyperslab.hpp"
#include "io/dataset/dataset_info.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return shape.empty() ? "no dimensions" : joined(shape, " x ");
}

[[noreturn]] void throw_different(const DatasetInfo& first, const DatasetInfo& other,
                                  const std::string& what, const std::string& of_first,
                                  const std::string& of_other) {
  throw Error(
      "cannot concatenate '" + first.name + "' of '" + first.file + "' and '" + other.file + "'",
      "their " + what + " differ (" + of_first + " and " + of_other + ")", "Omit one of them.");
}

void require_one_type(const DatasetInfo& first, const DatasetInfo& other) {
  if (other.format != first.format || other.stored_type != first.stored_type)
    throw_different(first, other, "types", first.stored_type, other.stored_type);
  if (other.marked_unsigned != first.marked_unsigned)
    throw_different(first, other, "attributes _Unsigned",
                    first.marked_unsigned ? "true" : "not true",
                    other.marked_unsigned ? "true" : "not true");
}

void require_one_shape(const DatasetInfo& first, const DatasetInfo& other,
                       const DatasetParts& parts) {
  std::vector<std::uint64_t> shape = other.stored_shape;
  if (shape.size() == first.stored_shape.size() && !parts.is_new)
    shape[parts.dimension] = first.stored_shape[parts.dimension];
  if (shape != first.stored_shape)
    throw_different(first, other, "shapes", shape_text(first.stored_shape),
                    shape_text(other.stored_shape));
}

bool have_equal_chunks(const DatasetInfo& one, const DatasetInfo& other) {
  const auto equal_filters = [](const Filter& a, const Filter& b) {
    return a.id == b.id && (a.id == filter_id::deflate || a.parameters == b.parameters);
  };
  return other.path == one.path && other.layout == one.layout && other.narrow == one.narrow &&
         other.chunk_shape == one.chunk_shape && other.fill == one.fill &&
         other.partial_edge_chunks_filtered == one.partial_edge_chunks_filtered &&
         std::ranges::equal(other.filters, one.filters, equal_filters);
}

/// Returns whether chunks may be missing, whose elements are the fill value.
bool may_lack_chunks([[maybe_unused]] const DatasetInfo& info) {
#if H5_VERSION_GE(1, 10, 5)
  return info.unwritten_chunks > 0 || !info.written_shape.empty();
#else
  return true;
#endif
}

/// Sets the element of chunks that are missing, unpacked. Returns false where parts have several.
bool take_unpacked_fill(const DatasetParts& parts, DatasetInfo& whole) {
  std::optional<std::array<std::byte, 8>> fill;
  for (std::size_t i = 0; i < parts.infos.size(); ++i) {
    const DatasetInfo& part = parts.infos[i];
    if (!may_lack_chunks(part)) continue;
    std::array<std::byte, 8> own = {};
    parts.unpack(i, std::span(part.fill).first(size_of(part.format.type)),
                 std::span(own).first(size_of(whole.format.type)));
    if (fill && *fill != own) return false;
    fill = own;
  }
  whole.fill = fill.value_or(std::array<std::byte, 8>{});
  return true;
}

/// Says why the chunks of parts do not form one grid, or nothing.
std::string reason_against_grid(const DatasetParts& parts) {
  const DatasetInfo& front = parts.infos.front();
  std::uint64_t chunks = 0;
  for (const DatasetInfo& info : parts.infos) {
    const bool fits = parts.packings.empty()
                          ? have_equal_chunks(front, info)
                          : info.path == front.path && info.layout == front.layout &&
                                info.chunk_shape == front.chunk_shape;
    if (!fits) return "'" + front.file + "' and '" + info.file + "' store it in different ways";
    const bool last = &info == &parts.infos.back();
    if (!last && !parts.is_new &&
        info.stored_shape[parts.dimension] % front.chunk_shape[parts.dimension] != 0)
      return "the chunks at the end of '" + info.file + "' are not whole";
    chunks += grid_of(info).chunks();
  }
  return chunks > most_chunks ? "it has more than " + std::to_string(most_chunks) + " chunks" : "";
}

void choose_path(DatasetInfo& info, const DatasetParts& parts) {
  const auto has_path = [](ReadPath path) {
    return [path](const DatasetInfo& part) { return part.path == path; };
  };
  const DatasetInfo& front = parts.infos.front();
  const auto by_library = std::ranges::find_if(parts.infos, has_path(ReadPath::library));
  info.path_reason = "";
  if (by_library != parts.infos.end())
    info.path_reason = by_library->path_reason;
  else if (front.layout == Layout::chunked)
    info.path_reason = reason_against_grid(parts);
  else if (!std::ranges::all_of(parts.infos,
                                [&](const auto& part) { return part.layout == front.layout; }))
    info.path_reason = "its files store it in different ways";
  info.path = info.path_reason.empty() ? front.path : ReadPath::library;
}

/// Adds parts, and parts of parts where they go on along the same dimension.
void add_parts(DatasetParts& parts, std::vector<DatasetInfo> infos,
               std::span<const Packing> packings) {
  std::uint64_t first = 0;
  const auto add = [&](DatasetInfo info, std::size_t packing) {
    parts.first.push_back(first);
    first += parts.extent_of(info);
    parts.infos.push_back(std::move(info));
    if (!packings.empty()) parts.packings.push_back(packings[packing]);
  };
  for (std::size_t i = 0; i < infos.size(); ++i) {
    DatasetInfo& info = infos[i];
    if (parts.extent_of(info) == 0) continue;
    if (info.parts && !parts.is_new && info.parts->dimension == parts.dimension) {
      for (const DatasetInfo& part : info.parts->infos) add(part, i);
      continue;
    }
    if (info.parts) info.path = ReadPath::library;
    add(std::move(info), i);
  }
}

bool are_alike(std::span<const Packing> packings) {
  return std::ranges::all_of(packings,
                             [&](const Packing& each) { return each == packings.front(); });
}

/// Makes the elements of a dataset unpacked values of packings that differ.
UnpackedValues unpack_parts(std::span<const DatasetInfo> infos, std::span<const Packing> packings,
                            DatasetInfo& whole) {
  const auto form = unpacked_values(packings);
  if (!form) {
    const auto type = [&](std::size_t i) { return std::string(name_of(packings[i].value_type())); };
    std::size_t other = 1;
    while (unpacked_values(packings.first(other + 1))) ++other;
    throw_different(infos.front(), infos[other],
                    "values have types that no type holds both exactly; they", type(0),
                    type(other));
  }
  whole.format = {form->type, native_byte_order};
  whole.stored_type = name_of(form->type);
  whole.narrow = {};
  whole.marked_unsigned = false;
  return *form;
}

/// Adds a first dimension of one index. Throws a usage Error where it would be too many.
void add_dimension(DatasetInfo& info, const std::string& name) {
  if (info.stored_shape.size() >= max_dimensions)
    throw usage_error("cannot concatenate '" + info.name + "' along a new dimension '" + name + "'",
                      "it has " + std::to_string(info.stored_shape.size()) + " dimensions",
                      "Datasets of at most " + std::to_string(max_dimensions) + " can be read.");
  info.stored_shape.insert(info.stored_shape.begin(), 1);
}

}  // namespace

void DatasetParts::unpack(std::size_t part, std::span<const std::byte> stored,
                          std::span<std::byte> elements) const {
  if (warpfold::unpack(packings[part], unpacked, stored, elements)) return;
  const DatasetInfo& info = infos[part];
  throw Error("cannot concatenate '" + info.name + "' of '" + info.file + "' and other files",
              "one of its values stands for those that files leave out",
              "Give the `fill_value` of all files, or none.");
}

bool is_unpacked(const DatasetInfo& info) { return info.parts && !info.parts->packings.empty(); }

DatasetInfo concatenated(std::vector<DatasetInfo> infos, const JoinedDimension& along,
                         std::vector<Packing> packings) {
  DatasetInfo whole = infos.front();
  const auto parts = std::make_shared<DatasetParts>();
  const std::size_t dimension = parts->dimension = along.number;
  parts->is_new = along.is_new();
  if (along.is_new()) add_dimension(whole, along.new_name);
  if (dimension >= whole.stored_shape.size())
    throw usage_error(
        "cannot concatenate '" + whole.name + "' along dimension " + std::to_string(dimension),
        "it has " + shape_text(whole.stored_shape), "Name one of its dimensions.");
  const bool any_packed = std::ranges::any_of(
      packings, [](const Packing& each) { return each.decoding.unpacking.active || each.times; });
  if (are_alike(packings)) packings.clear();
  if (!packings.empty()) parts->unpacked = unpack_parts(infos, packings, whole);
  std::set<std::string> files;
  std::uint64_t extent = 0;
  whole.stored_bytes = 0;
  whole.elements = 0;
  whole.unwritten_chunks = 0;
  whole.written_shape.clear();
  for (const DatasetInfo& info : infos) {
    if (!any_packed) require_one_type(infos.front(), info);
    require_one_shape(infos.front(), info, *parts);
    files.merge(input_files(info));
    extent += parts->extent_of(info);
    whole.stored_bytes += info.stored_bytes;
    whole.elements += info.elements;
    whole.unwritten_chunks += info.unwritten_chunks;
    whole.has_default_fill &= info.has_default_fill;
    if (&info != &infos.front())
      whole.notes.insert(whole.notes.end(), info.notes.begin(), info.notes.end());
    if (whole.elements > std::numeric_limits<std::int64_t>::max() / size_of(whole.format.type))
      throw Error("cannot concatenate '" + whole.name + "' of '" + whole.file + "' and others",
                  "together they have more bytes than 63 bits can count", "");
  }
  whole.source_files = std::move(files);
  whole.stored_shape[dimension] = extent;
  whole.shape = whole.stored_shape;
  whole.file_offset.reset();
  whole.parts.reset();
  if (whole.elements == 0) return whole;
  add_parts(*parts, std::move(infos), packings);
  choose_path(whole, *parts);
  const DatasetInfo& front = parts->infos.front();
  whole.layout = front.layout;
  whole.chunk_shape = front.chunk_shape;
  if (parts->is_new && front.layout == Layout::chunked)
    whole.chunk_shape.insert(whole.chunk_shape.begin(), 1);
  whole.filters = front.filters;
  whole.fill = front.fill;
  if (!packings.empty() && front.layout == Layout::chunked && !take_unpacked_fill(*parts, whole)) {
    whole.path = ReadPath::library;
    whole.path_reason = "chunks that its files lack stand for several values";
  }
  whole.partial_edge_chunks_filtered = front.partial_edge_chunks_filtered;
  whole.parts = parts;
  return whole;
}

std::vector<std::string> stored_files(const DatasetInfo& info) {
  if (!info.parts) return {info.stored_file};
  std::vector<std::string> files;
  for (const DatasetInfo& part : info.parts->infos) files.push_back(part.stored_file);
  return files;
}

std::size_t part_at(const DatasetParts& parts, std::uint64_t index) {
  return static_cast<std::size_t>(std::ranges::upper_bound(parts.first, index) -
                                  parts.first.begin() - 1);
}

std::vector<PartSelection> parts_of(const DatasetParts& parts, const Selection& selection) {
  const Slice& slice = selection[parts.dimension];
  std::vector<PartSelection> found;
  for (std::uint64_t before = 0; before < slice.count; before += found.back().count) {
    const std::size_t part = part_at(parts, slice.start + before * slice.step);
    const Slice within =
        slice_within(slice, {parts.first[part], parts.extent_of(parts.infos[part])});
    found.push_back({part, selection, before, within.count});
    Selection& own = found.back().selection;
    if (parts.is_new)
      own.erase(own.begin());
    else
      own[parts.dimension] = within;
  }
  return found;
}

}  // namespace warpfold::io
