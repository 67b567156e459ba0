#include "cli/commands/printed_outputs.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "cli/report/text.hpp"
#include "core/layout/hyperslab.hpp"

namespace warpfold::cli {
namespace {

/// Writes a number: the shortest decimal that is it in its type, or a date.
std::string cell_of(const ReportedNumbers& numbers, ElementType type, std::size_t index) {
  if (!numbers.texts.empty() && !numbers.texts[index].empty()) return numbers.texts[index];
  const auto* real = std::get_if<double>(&numbers.values[index]);
  if (real != nullptr && type == ElementType::f32 && *real == *real)
    return fmt::format("{}", static_cast<float>(*real));
  return to_text(numbers.values[index]);
}

std::string cell_of(const ReportedCoordinate& coordinate, std::size_t index) {
  const bool is_there = !coordinate.values.empty() || !coordinate.texts.empty();
  return is_there ? cell_of(coordinate, coordinate.type, index) : fmt::format("{}", index);
}

/// Writes what a column has: dates need no units, and numbers of none have 1.
std::string headed(const std::string& name, const ReportedNumbers& numbers) {
  const bool has_units = numbers.texts.empty() && !numbers.units.empty() && numbers.units != "1";
  return has_units ? fmt::format("{} ({})", name, numbers.units) : name;
}

/// Returns the indices of a place along each dimension.
std::vector<std::uint64_t> indices_of(std::uint64_t place,
                                      const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> indices(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; place /= shape[d]) indices[d] = place % shape[d];
  return indices;
}

/// Takes values one after another into nested arrays of a shape.
template <class Next>
Json nested(const std::vector<std::uint64_t>& shape, std::size_t dimension, const Next& next) {
  if (dimension == shape.size()) return next();
  Json array = Json::array();
  for (std::uint64_t i = 0; i < shape[dimension]; ++i)
    array.push_back(nested(shape, dimension + 1, next));
  return array;
}

/// Adds the numbers, as dates too where they are times; or the texts where there are these alone.
void add_numbers(const ReportedNumbers& numbers, const std::vector<std::uint64_t>& shape,
                 Json& members) {
  if (!numbers.units.empty()) members["units"] = numbers.units;
  if (!numbers.calendar.empty()) members["calendar"] = numbers.calendar;
  std::size_t at = 0;
  const auto texts = [&] { return nested(shape, 0, [&] { return Json(numbers.texts[at++]); }); };
  if (numbers.values.empty() && product(shape) > 0) {
    if (!numbers.texts.empty()) members["texts"] = texts();
    return;
  }
  members["values"] = nested(shape, 0, [&] { return json_value(numbers.values[at++]); });
  at = 0;
  if (!numbers.texts.empty()) members["dates"] = texts();
}

}  // namespace

std::string printed_text(const ReduceResult& result, const std::vector<std::string>& names) {
  Table table;
  if (result.output_shape.empty()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const AxisOutput& output = result.outputs[i];
      table.push_back({headed(names[i], output.numbers), cell_of(output.numbers, output.type, 0)});
    }
    return aligned_text(table);
  }
  std::vector<std::string>& head = table.emplace_back();
  for (const ReportedCoordinate& each : result.coordinates) head.push_back(headed(each.name, each));
  for (std::size_t i = 0; i < names.size(); ++i)
    head.push_back(headed(names[i], result.outputs[i].numbers));
  for (std::uint64_t place = 0; place < product(result.output_shape); ++place) {
    const std::vector<std::uint64_t> indices = indices_of(place, result.output_shape);
    std::vector<std::string>& line = table.emplace_back();
    for (std::size_t d = 0; d < indices.size(); ++d)
      line.push_back(cell_of(result.coordinates[d], indices[d]));
    for (const AxisOutput& output : result.outputs)
      line.push_back(cell_of(output.numbers, output.type, place));
  }
  return aligned_text(table);
}

Json printed_json(const ReduceResult& result, const std::vector<std::string>& names) {
  Json coordinates = Json::array();
  for (std::size_t d = 0; d < result.coordinates.size(); ++d) {
    Json& members = coordinates.emplace_back(Json{{"name", result.coordinates[d].name}});
    add_numbers(result.coordinates[d], {result.output_shape[d]}, members);
  }
  Json datasets = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Json& members = datasets[names[i]] = {{"dtype", name_of(result.outputs[i].type)}};
    add_numbers(result.outputs[i].numbers, result.output_shape, members);
  }
  return {{"output_shape", result.output_shape},
          {"coordinates", std::move(coordinates)},
          {"datasets", std::move(datasets)}};
}

std::vector<ResultRow> printed_rows(const ReduceResult& result,
                                    const std::vector<std::string>& names) {
  std::vector<ResultRow> rows;
  for (std::uint64_t place = 0; place < product(result.output_shape); ++place) {
    const std::vector<std::uint64_t> indices = indices_of(place, result.output_shape);
    std::vector<std::pair<std::string, std::string>> coordinates;
    for (std::size_t d = 0; d < indices.size(); ++d)
      coordinates.emplace_back(result.coordinates[d].name,
                               cell_of(result.coordinates[d], indices[d]));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const ReportedNumbers& numbers = result.outputs[i].numbers;
      const bool is_date = !numbers.texts.empty() && !numbers.texts[place].empty();
      rows.push_back({names[i], is_date ? numbers.texts[place] : to_text(numbers.values[place], ""),
                      coordinates});
    }
  }
  return rows;
}

}  // namespace warpfold::cli
