#include "pipeline/datasets/dataset_view.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/values/ordered_key.hpp"
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

ValueFilter filter_without(const io::DatasetInfo& info, const std::vector<std::string>& names) {
  std::vector<Value> fills;
  for (const auto& attribute : io::read_number_attributes(info.file, info.name, names))
    if (attribute)
      for (const Value& fill : attribute->values)
        fills.push_back(info.taken_as_unsigned ? without_sign(fill, info.format.type) : fill);
  return filter_without_fill_values(fills, info.format.type);
}

ValueFilter fill_filter(const io::DatasetInfo& info, const std::string& fill_value) {
  if (fill_value == "none") return {};
  if (fill_value != "auto") return filter_without_fill_value(fill_value, info.format.type);
  return filter_without(info, {"_FillValue", "missing_value"});
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

/// netCDF's NC_FILL_*: next to the end of a type's range, but for types of 8 and 16 bits.
Value netcdf_fill_value(ElementType type) {
  return visit_element_type(type, [](auto element) -> Value {
    using Element = decltype(element);
    if constexpr (is_floating_element<Element>) {
      return std::numeric_limits<double>::quiet_NaN();
    } else {
      using Limits = std::numeric_limits<Element>;
      if constexpr (std::is_signed_v<Element>)
        return int128{Limits::min()} + (sizeof(Element) == 8 ? 2 : 1);
      return int128{Limits::max()} - (sizeof(Element) == 8 ? 1 : 0);
    }
  });
}

Value default_empty_value(const DatasetView& view) {
  const io::DatasetInfo& info = view.info();
  if (!view.decoding.unpacking.active) {
    const std::vector<Value> fills =
        values_left_out(filter_without(info, {"_FillValue"}), info.format.type);
    if (!fills.empty()) return fills.front();
  }
  return netcdf_fill_value(view.value_type());
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

Value empty_value(const DatasetView& view, const std::string& asked,
                  const mpi::Communicator& communicator) {
  const ElementType type = view.value_type();
  std::uint64_t bits = 0;
  run_on_root(communicator, [&] {
    const Value value = asked == "auto"
                            ? default_empty_value(view)
                            : values_left_out(filter_without_fill_value(asked, type), type).front();
    const auto* real = std::get_if<double>(&value);
    bits =
        real != nullptr ? value_bits(*real) : static_cast<std::uint64_t>(std::get<int128>(value));
  });
  return value_of_bits(mpi::broadcast(bits, communicator), type);
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
