#include "cli/commands/dataset_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "cli/report/report.hpp"

namespace warpfold::cli {
namespace {

std::string_view layout_name(io::Layout layout) {
  constexpr std::string_view names[] = {"compact", "contiguous", "chunked", "external", "virtual"};
  return names[static_cast<std::size_t>(layout)];
}

std::string_view read_path_name(ReadPath path) {
  constexpr std::string_view names[] = {"auto", "direct", "chunk", "library"};
  return names[static_cast<std::size_t>(path)];
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

/// Tells the stored bytes, and how often they would fit into the elements'.
std::string stored_text(const io::DatasetInfo& info) {
  if (info.stored_bytes == 0) return "nothing";
  double bytes = static_cast<double>(size_of(info.format.type));
  for (const std::uint64_t extent : info.stored_shape) bytes *= static_cast<double>(extent);
  return fmt::format("{}, ratio {:.2f}", bytes_text(info.stored_bytes),
                     bytes / static_cast<double>(info.stored_bytes));
}

bool are_named(const std::vector<pipeline::DimensionDescription>& dimensions) {
  return std::ranges::any_of(dimensions, [](const auto& each) { return !each.name.empty(); });
}

/// Names dimensions, with their first and last coordinates: "time, lat 90 to -90".
std::string dimensions_text(const std::vector<pipeline::DimensionDescription>& dimensions) {
  std::vector<std::string> texts;
  for (const auto& [name, first, last, first_date, last_date] : dimensions) {
    texts.push_back(name.empty() ? "(no name)" : name);
    if (first.index() != 0) texts.back() += " " + to_text(first) + " to " + to_text(last);
    if (!first_date.empty()) texts.back() += " (" + first_date + " to " + last_date + ")";
  }
  return joined(texts, ", ");
}

/// Lists the files beside those that are named: what elements lie in, and links to them.
std::vector<std::string> other_files(const io::DatasetInfo& info) {
  std::set<std::string> files = io::input_files(info);
  files.erase(info.file);
  for (const std::string& named : info.files) files.erase(named);
  return {files.begin(), files.end()};
}

/// Names the first of many.
std::string other_files_text(const std::vector<std::string>& files) {
  constexpr std::size_t most = 8;
  if (files.size() <= most) return joined(files, ", ");
  return fmt::format("{}, ... and {} more",
                     joined(std::vector(files.begin(), files.begin() + most), ", "),
                     files.size() - most);
}

std::string layout_text(const io::DatasetInfo& info) {
  const std::string name(layout_name(info.layout));
  if (!info.parts) return name;
  return fmt::format("{}, in {} parts of other files", name, info.parts->infos.size());
}

}  // namespace

std::string read_path_text(const io::DatasetInfo& info) {
  if (info.elements == 0) return "none: there are no elements";
  switch (info.path) {
    case ReadPath::direct:
      return info.file_offset
                 ? fmt::format("direct: bytes of the file, from byte {} on", *info.file_offset)
             : info.layout == io::Layout::chunked ? "direct: bytes of the file, chunk by chunk"
                                                  : "direct: bytes of the files";
    case ReadPath::chunk:
      return "chunk: stored chunks, whose filters warpfold undoes";
    default:
      return "library: HDF5 reads" + (info.path_reason.empty() ? "" : ", as " + info.path_reason);
  }
}

Table properties_table(const io::DatasetInfo& info,
                       const std::vector<pipeline::DimensionDescription>& dimensions) {
  Table table{
      {"type", fmt::format("{} (computed as {})", info.stored_type, name_of(info.format.type))},
      {"shape", shape_text(info.stored_shape)}};
  if (are_named(dimensions)) table.push_back({"dimensions", dimensions_text(dimensions)});
  if (!info.selection.empty()) table.push_back({"selected", shape_text(info.shape)});
  table.push_back({"elements", fmt::format("{}", info.elements)});
  table.push_back({"bytes", bytes_text(element_bytes(info))});
  table.push_back({"layout", layout_text(info)});
  if (const auto others = other_files(info); !others.empty())
    table.push_back({"other files", other_files_text(others)});
  if (!info.chunk_shape.empty()) {
    table.push_back({"chunk", shape_text(info.chunk_shape)});
    table.push_back({"filters", info.filters.empty() ? "none" : joined(filter_names(info), ", ")});
  }
  table.push_back({"stored", stored_text(info)});
  table.push_back({"read by", read_path_text(info)});
  if (!info.selection.empty())
    table.push_back({"to be read", "about " + bytes_text(io::bytes_to_read(info))});
  return table;
}

Json properties_json(const io::DatasetInfo& info,
                     const std::vector<pipeline::DimensionDescription>& dimensions) {
  Json properties;
  properties["stored_type"] = info.stored_type;
  properties["stored_shape"] = info.stored_shape;
  if (are_named(dimensions)) {
    for (const auto& [name, first, last, first_date, last_date] : dimensions) {
      Json& dimension = properties["dimensions"].emplace_back();
      dimension = {{"name", name}, {"first", json_value(first)}, {"last", json_value(last)}};
      if (!first_date.empty()) dimension["first_date"] = first_date;
      if (!last_date.empty()) dimension["last_date"] = last_date;
    }
  }
  properties["elements"] = json_integer(info.elements);
  properties["bytes"] = json_integer(element_bytes(info));
  properties["layout"] = layout_name(info.layout);
  if (info.parts) properties["parts"] = info.parts->infos.size();
  if (const auto others = other_files(info); !others.empty()) properties["other_files"] = others;
  properties["chunk_shape"] = info.chunk_shape;
  properties["filters"] = filter_names(info);
  properties["stored_bytes"] = json_integer(info.stored_bytes);
  properties["bytes_to_read"] = json_integer(io::bytes_to_read(info));
  properties["file_offset"] = info.file_offset ? json_integer(*info.file_offset) : Json();
  properties["read_path"] = read_path_name(info.path);
  properties["read_path_reason"] = info.path_reason;
  return properties;
}

Table view_table(const ViewOptions& options, const AppliedAttributes& applied, ElementType values) {
  Table table;
  const std::string text = applied_text(applied);
  if (!text.empty()) table.push_back({"values", fmt::format("{} = {}", name_of(values), text)});
  if (!options.where.empty())
    table.push_back({"counted", "values " + joined(options.where, " and ")});
  return table;
}

}  // namespace warpfold::cli
