#include "pipeline/reduce/axis_writer.hpp"

#include <cstring>

#include "core/results/statistic_table.hpp"
#include "core/values/value_element.hpp"
#include "mpi/agreement.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

void FirstFailure::note(Place place, std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (place >= place_) return;
  place_ = place;
  failure_ = std::move(failure);
}

bool FirstFailure::precedes(Place place) const {
  const std::lock_guard lock(mutex_);
  return place_ < place;
}

void FirstFailure::throw_on_all_ranks(const mpi::Communicator& communicator) const {
  const std::uint64_t dataset = mpi::minimum({place_.first}, communicator).front();
  const bool candidate = place_.first == dataset;
  const std::uint64_t index =
      mpi::minimum({candidate ? place_.second : nowhere.second}, communicator).front();
  const bool first = candidate && place_.second == index;
  mpi::throw_on_all_ranks(first ? failure_ : nullptr, communicator);
}

AxisWriter::AxisWriter(std::vector<AxisTarget> targets, std::vector<std::uint64_t> output_shape,
                       const SummaryOptions& options, std::vector<PlaceDimension> places)
    : targets_(std::move(targets)),
      output_shape_(std::move(output_shape)),
      options_(options),
      places_(std::move(places)) {}

void AxisWriter::write(const Hyperslab& outputs, const AxisTotals& totals, OutputTimers& timers) {
  for (std::size_t target = 0; target < targets_.size(); ++target)
    for_each_run(outputs, output_shape_,
                 [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
                   write(target, place, {index, count}, totals, timers);
                 });
}

void AxisWriter::write(ElementRange outputs, const AxisTotals& totals, OutputTimers& timers) {
  for (std::size_t target = 0; target < targets_.size(); ++target)
    write(target, 0, outputs, totals, timers);
}

void AxisWriter::write(std::size_t target, std::uint64_t place, ElementRange outputs,
                       const AxisTotals& totals, OutputTimers& timers) {
  const std::vector<std::byte> elements =
      timers.finishing.time(0, [&] { return finished(target, place, outputs, totals); });
  const AxisTarget& to = targets_[target];
  const std::uint64_t begin = outputs.first * size_of(to.type);
  timers.writing.time(elements.size(), [&] {
    if (!elements.empty()) to.writer->write(begin, elements);
  });
}

std::vector<std::byte> AxisWriter::finished(std::size_t target, std::uint64_t place,
                                            ElementRange outputs, const AxisTotals& totals) {
  const AxisTarget& to = targets_[target];
  const ElementType type = to.place != nullptr ? ElementType::i64 : to.type;
  std::vector<std::byte> elements(outputs.count * size_of(type));
  try {
    totals.store(to.statistic, options_, {place, outputs.count}, outputs.first - place, type,
                 elements.data());
  } catch (const Error&) {
    failure_.note({target, outputs.first}, std::current_exception());
    return {};
  }
  if (row_of(to.statistic).is_index() && !places_.empty()) count_along_places(elements);
  if (row_of(to.statistic).of_nothing == OfNothing::fill_value && options_.empty != Value{})
    marked_results_ += count_marked(type, place, totals, elements);
  if (to.min_count > 0 && to.missing != Value{})
    replace_small(to.min_count, to.missing, type, place, totals, elements);
  else if (row_of(to.statistic).of_nothing == OfNothing::zero_or_chosen)
    sums_of_nothing_ += replace_small(1, to.empty, type, place, totals, elements);
  return to.place != nullptr ? to.place->at(elements) : elements;
}

std::uint64_t AxisWriter::count_marked(ElementType type, std::uint64_t place,
                                       const AxisTotals& totals,
                                       const std::vector<std::byte>& elements) const {
  std::uint64_t found = 0;
  visit_element_type(type, [&](auto mark) {
    using Out = decltype(mark);
    mark = element_of<Out>(options_.empty);
    if (widened(mark) != widened(mark)) return;
    for (std::size_t at = 0; at < elements.size(); at += sizeof(Out))
      found +=
          static_cast<std::uint64_t>(std::memcmp(&elements[at], &mark, sizeof(Out)) == 0 &&
                                     counting(totals.parts().counts[place + at / sizeof(Out)]) > 0);
  });
  return found;
}

std::uint64_t AxisWriter::counting(const AxisCounts& counts) const {
  return counts.elements - (options_.nan == NanPolicy::skip ? counts.nan : 0);
}

void AxisWriter::count_along_places(std::vector<std::byte>& indices) const {
  std::int64_t index = 0;
  for (std::size_t at = 0; at < indices.size(); at += sizeof(index)) {
    std::memcpy(&index, &indices[at], sizeof(index));
    if (index < 0) continue;
    std::uint64_t along = 0;
    for (const PlaceDimension& each : places_)
      along = along * each.extent + static_cast<std::uint64_t>(index) / each.stride % each.extent;
    std::memcpy(&indices[at], &along, sizeof(along));
  }
}

std::uint64_t AxisWriter::replace_small(std::uint64_t fewest, const Value& replacement,
                                        ElementType type, std::uint64_t place,
                                        const AxisTotals& totals,
                                        std::vector<std::byte>& elements) const {
  std::uint64_t found = 0;
  visit_element_type(type, [&](auto zero) {
    using Out = decltype(zero);
    const auto element = element_of<Out>(replacement);
    for (std::size_t at = 0; at < elements.size(); at += sizeof(Out)) {
      if (counting(totals.parts().counts[place + at / sizeof(Out)]) >= fewest) continue;
      ++found;
      std::memcpy(&elements[at], &element, sizeof(Out));
    }
  });
  return found;
}

bool AxisWriter::failed_before(const Hyperslab& outputs) const {
  return failure_.precedes({0, flat_index(outputs.start, output_shape_)});
}

}  // namespace warpfold::pipeline
