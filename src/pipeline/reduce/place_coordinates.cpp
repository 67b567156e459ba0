#include "pipeline/reduce/place_coordinates.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <variant>

#include "core/results/statistic_table.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/value_element.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
std::vector<std::byte> PlaceCoordinate::at(std::span<const std::byte> places) const {
  const std::size_t count = places.size() / sizeof(std::int64_t);
  std::vector<std::byte> elements(count * size_of(type));
  visit_element_type(type, [&](auto element) {
    using Element = decltype(element);
    const auto nothing = element_of<Element>(value_for_nothing(type));
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t place = 0;
      std::memcpy(&place, &places[i * sizeof(place)], sizeof(place));
      const std::uint64_t index = static_cast<std::uint64_t>(place) / stride % bits.size();
      element = place < 0 ? nothing : element_of<Element>(value_of_bits(bits[index], type));
      std::memcpy(&elements[i * sizeof(element)], &element, sizeof(element));
    }
  });
  return elements;
}

std::vector<PlaceCoordinate> place_coordinates(const ReduceOptions& options, io::OutputSpec file,
                                               const DatasetView& view,
                                               std::span<const int> dimensions,
                                               std::span<const std::uint64_t> strides, Run& run) {
  if (options.places == Places::indices ||
      std::ranges::none_of(options.statistics, &StatisticRow::is_index, row_of))
    return {};
  std::vector<PlaceCoordinate> found(dimensions.size());
  run_on_root(run.communicator, [&] {
    file.shape = view.info().shape;
    file.added.reset();
    file.note = nullptr;
    const std::vector<ReportedCoordinate> all = io::coordinates_of(file);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const ReportedCoordinate& of = all[static_cast<std::size_t>(dimensions[i])];
      if (of.values.empty())
        throw usage_error("`places` cannot be coordinates",
                          "dimension '" + of.name + "' of '" + view.info().name +
                              "' has no coordinate of numbers",
                          "Choose indices.");
      found[i] = {of.name, of.units, of.calendar, of.type, strides[i], {}};
      for (const Value& value : of.values)
        found[i].bits.push_back(is_floating(of.type)
                                    ? std::bit_cast<std::uint64_t>(std::get<double>(value))
                                    : static_cast<std::uint64_t>(std::get<int128>(value)));
    }
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    PlaceCoordinate& each = found[i];
    each.name = mpi::broadcast(each.name, run.communicator);
    each.type = static_cast<ElementType>(
        mpi::broadcast(static_cast<std::uint64_t>(each.type), run.communicator));
    each.stride = strides[i];
    each.bits = mpi::broadcast(each.bits, run.communicator);
  }
  return found;
}

}  // namespace warpfold::pipeline
