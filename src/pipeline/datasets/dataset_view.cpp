#include "pipeline/datasets/dataset_view.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

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

ValueFilter fill_filter(const io::DatasetInfo& info, const std::string& fill_value) {
  if (fill_value == "none") return {};
  if (fill_value != "auto") return filter_without_fill_value(fill_value, info.format.type);
  const std::vector<std::string> names{"_FillValue", "missing_value"};
  std::vector<Value> fills;
  for (const auto& attribute : io::read_number_attributes(info.file, info.name, names))
    if (attribute) fills.insert(fills.end(), attribute->values.begin(), attribute->values.end());
  return filter_without_fill_values(fills, info.format.type);
}

[[noreturn]] void throw_bad_packing(const io::DatasetInfo& info, const std::string& why) {
  throw Error("cannot unpack dataset '" + info.name + "' of " + info.file, why,
              "Correct its attributes, or leave out `cf`.");
}

/// Returns the one finite f32 or f64 that the attribute holds.
double packing_number(const io::DatasetInfo& info, const std::string& name,
                      const io::NumberAttribute& attribute) {
  if (attribute.type != ElementType::f32 && attribute.type != ElementType::f64)
    throw_bad_packing(info, "its " + name + " is of type " + std::string(name_of(attribute.type)) +
                                ", neither f32 nor f64");
  if (attribute.values.size() != 1)
    throw_bad_packing(
        info, "its " + name + " has " + std::to_string(attribute.values.size()) + " values");
  const double number = std::get<double>(attribute.values.front());
  if (!std::isfinite(number)) throw_bad_packing(info, "its " + name + " is not finite");
  return number;
}

Unpacking unpacking_of(const io::DatasetInfo& info) {
  const std::vector<std::string> names{scale_name, offset_name};
  const auto attributes = io::read_number_attributes(info.file, info.name, names);
  const auto& scale = attributes[0];
  const auto& offset = attributes[1];
  if (is_signed_integer(info.format.type) && io::has_attribute(info.file, info.name, unsigned_name))
    throw_bad_packing(info, "its attribute " + unsigned_name +
                                " makes signed integers unsigned, which is not supported");
  Unpacking unpacking;
  if (!scale && !offset) return unpacking;
  if (scale) unpacking.scale = packing_number(info, scale_name, *scale);
  if (offset) unpacking.offset = packing_number(info, offset_name, *offset);
  if (scale && offset && scale->type != offset->type)
    throw_bad_packing(info, "its " + scale_name + " and " + offset_name + " differ in type");
  unpacking.active = true;
  unpacking.type = scale ? scale->type : offset->type;
  return unpacking;
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

std::vector<std::string> packing_attributes(const Decoding& decoding) {
  return decoding.unpacking.active ? element_attributes() : std::vector<std::string>{};
}

DatasetView open_view(const std::string& file, const std::string& name, const ViewOptions& options,
                      Run& run) {
  DatasetView opened = run.opening.time(0, [&] {
    const mpi::Communicator& communicator = run.communicator;
    DatasetView view{open_everywhere(file, name, communicator, run.options.read_path), {}};
    run_on_all(communicator, [&] {
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
