#include "cli/dataset_description.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/text.hpp"

namespace warpfold::cli {
namespace {

std::string_view layout_name(io::Layout layout) {
  constexpr std::string_view names[] = {"compact", "contiguous", "chunked", "external", "virtual"};
  return names[static_cast<std::size_t>(layout)];
}

std::uint64_t element_bytes(const io::DatasetInfo& info) {
  return info.elements * size_of(info.format.type);
}

std::vector<std::string> filter_names(const io::DatasetInfo& info) {
  std::vector<std::string> names;
  for (const io::Filter& filter : info.filters)
    names.push_back(filter.available ? filter.name : filter.name + " (missing)");
  return names;
}

std::string filters_text(const io::DatasetInfo& info) {
  return info.filters.empty() ? "none" : joined(filter_names(info), ", ");
}

/// Stored bytes, and how often they would fit into the elements'.
std::string stored_text(const io::DatasetInfo& info) {
  if (info.stored_bytes == 0) return "nothing";
  return fmt::format(
      "{}, ratio {:.2f}", bytes_text(info.stored_bytes),
      static_cast<double>(element_bytes(info)) / static_cast<double>(info.stored_bytes));
}

std::string_view library_reason(const io::DatasetInfo& info) {
  switch (info.layout) {
    case io::Layout::compact:
      return "its elements lie in the object's header";
    case io::Layout::chunked:
      return info.filters.empty() ? "it is chunked" : "it is chunked and filtered";
    case io::Layout::external:
      return "its elements lie in other files";
    case io::Layout::virtual_:
      return "its elements are those of other datasets";
    case io::Layout::contiguous:
      break;
  }
  return info.stored_bytes == 0 ? "nothing was ever written, so all elements are the fill value"
                                : "its stored bits need converting";
}

}  // namespace

std::string read_path_text(const io::DatasetInfo& info) {
  if (info.elements == 0) return "none: there are no elements";
  if (info.file_offset)
    return fmt::format("pread of contiguous bytes, from byte {} of the file", *info.file_offset);
  return fmt::format("the HDF5 library: {}", library_reason(info));
}

Table properties_table(const io::DatasetInfo& info) {
  Table table{
      {"type", fmt::format("{} (computed as {})", info.stored_type, name_of(info.format.type))},
      {"shape", shape_text(info.shape)},
      {"elements", fmt::format("{}", info.elements)},
      {"bytes", bytes_text(element_bytes(info))},
      {"layout", std::string(layout_name(info.layout))}};
  if (!info.chunk_shape.empty()) {
    table.push_back({"chunk", shape_text(info.chunk_shape)});
    table.push_back({"filters", filters_text(info)});
  }
  table.push_back({"stored", stored_text(info)});
  table.push_back({"read by", read_path_text(info)});
  return table;
}

Json properties_json(const io::DatasetInfo& info) {
  Json properties;
  properties["stored_type"] = info.stored_type;
  properties["elements"] = json_integer(info.elements);
  properties["bytes"] = json_integer(element_bytes(info));
  properties["layout"] = layout_name(info.layout);
  properties["chunk_shape"] = info.chunk_shape;
  properties["filters"] = filter_names(info);
  properties["stored_bytes"] = json_integer(info.stored_bytes);
  properties["file_offset"] = info.file_offset ? json_integer(*info.file_offset) : Json();
  properties["read_path"] = read_path_text(info);
  return properties;
}

}  // namespace warpfold::cli
