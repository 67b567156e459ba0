#include "pipeline/datasets/dataset_view.hpp"

#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/values/unpacking.hpp"
#include "core/values/value_filters.hpp"
#include "io/dataset/number_attributes.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

const std::string scale_name = "scale_factor";
const std::string offset_name = "add_offset";
const std::string unsigned_name = "_Unsigned";

/// Returns a negative integer as what its bits are without a sign.
Value without_sign(const Value& value, ElementType type) {
  const auto* integer = std::get_if<int128>(&value);
  if (integer == nullptr || *integer >= 0) return value;
  return *integer + (int128{1} << 8 * size_of(type));
}

ValueFilter fill_filter(const io::DatasetInfo& info, const std::string& fill_value) {
  if (fill_value == "none") return {};
  if (fill_value != "auto") return filter_without_fill_value(fill_value, info.format.type);
  const std::vector<std::string> names{"_FillValue", "missing_value"};
  std::vector<Value> fills;
  for (const auto& attribute : io::read_number_attributes(info.file, info.name, names))
    if (attribute)
      for (const Value& fill : attribute->values)
        fills.push_back(info.taken_as_unsigned ? without_sign(fill, info.format.type) : fill);
  return filter_without_fill_values(fills, info.format.type);
}

[[noreturn]] void throw_bad_packing(const io::DatasetInfo& info, const std::string& why) {
  throw Error("cannot unpack dataset '" + info.name + "' of " + info.file, why,
              "Correct its attributes, or leave out `cf`.");
}

/// Returns the one finite number that the attribute holds, if there is one.
std::optional<TypedNumber> packing_number(const io::DatasetInfo& info, const std::string& name,
                                          const std::optional<io::NumberAttribute>& attribute) {
  if (!attribute) return std::nullopt;
  if (attribute->values.size() != 1)
    throw_bad_packing(
        info, "its " + name + " has " + std::to_string(attribute->values.size()) + " values");
  const Value& number = attribute->values.front();
  const auto* real = std::get_if<double>(&number);
  if (real != nullptr && !std::isfinite(*real))
    throw_bad_packing(info, "its " + name + " is not finite");
  return TypedNumber{attribute->type, number};
}

Unpacking unpacking_of(const io::DatasetInfo& info) {
  const std::vector<std::string> names{scale_name, offset_name};
  const auto attributes = io::read_number_attributes(info.file, info.name, names);
  const auto scale = packing_number(info, scale_name, attributes[0]);
  const auto offset = packing_number(info, offset_name, attributes[1]);
  if (!scale && !offset) return {};
  return make_unpacking(info.format.type, scale, offset);
}

static_assert(std::is_trivially_copyable_v<Decoding>);

/// Returns the root's decoding on every rank.
Decoding share_from_root(const Decoding& decoding, const mpi::Communicator& communicator) {
  const std::string bytes = mpi::broadcast(
      std::string(reinterpret_cast<const char*>(&decoding), sizeof(decoding)), communicator);
  Decoding shared;
  std::memcpy(static_cast<void*>(&shared), bytes.data(), sizeof(shared));
  return shared;
}

}  // namespace

Decoding view_decoding(const io::DatasetInfo& info, const ViewOptions& options) {
  Decoding decoding;
  decoding.stored = fill_filter(info, options.fill_value);
  if (options.cf) decoding.unpacking = unpacking_of(info);
  decoding.values = filter_of_conditions(options.where, decoding.value_type(info.format.type));
  return decoding;
}

const std::vector<std::string>& element_attributes() {
  static const std::vector<std::string> names{scale_name,   offset_name,     unsigned_name,
                                              "_FillValue", "missing_value", "valid_min",
                                              "valid_max",  "valid_range",   "actual_range"};
  return names;
}

std::vector<std::string> packing_attributes(const DatasetView& view) {
  return view.decoding.unpacking.active || view.info().taken_as_unsigned
             ? element_attributes()
             : std::vector<std::string>{};
}

DatasetView open_view(const std::string& file, const std::string& name, const ViewOptions& options,
                      Run& run) {
  DatasetView opened = run.opening.time(0, [&] {
    const mpi::Communicator& communicator = run.communicator;
    DatasetView view{open_everywhere(file, name, communicator, run.options.read_path), {}};
    run_on_all(communicator, [&] {
      if (options.cf) view.dataset.take_as_unsigned();
      view.dataset.select(parse_selection(options.select, view.info().stored_shape));
      view.dataset.choose_cache(run.options.file_cache);
    });
    Decoding decoding;
    run_on_root(communicator, [&] { decoding = view_decoding(view.info(), options); });
    view.decoding = share_from_root(decoding, communicator);
    return view;
  });
  run.choose_backend_for(opened.info());
  return opened;
}

}  // namespace warpfold::pipeline
