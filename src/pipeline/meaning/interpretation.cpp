#include "pipeline/meaning/interpretation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "core/values/ordered_key.hpp"
#include "core/values/unpacking.hpp"
#include "core/values/value_filters.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/number_attributes.hpp"
#include "io/hdf5/netcdf_variable.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

using Attribute = std::optional<io::NumberAttribute>;

[[noreturn]] void throw_unclear(const io::StoredDataset& info, const std::string& name,
                                const std::string& why) {
  throw Error(io::cannot_read(info.file, info.name),
              "its attribute " + name + " is unclear; " + why,
              "Correct the attribute, or use the stored numbers with `raw`.");
}

std::string counted_values(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " value" : " values");
}

bool equals(const TypedNumber& number, int integer) {
  const auto* real = std::get_if<double>(&number.value);
  return real != nullptr ? *real == integer : std::get<int128>(number.value) == integer;
}

ElementType signed_type(ElementType type) {
  return static_cast<ElementType>(static_cast<int>(type) - static_cast<int>(ElementType::u8));
}

const std::vector<std::string> attribute_names{"_FillValue", "missing_value", "valid_range",
                                               "valid_min",  "valid_max",     "scale_factor",
                                               "add_offset", "_Unsigned"};

bool are_equal(const Attribute& one, const Attribute& other) {
  if (!one || !other) return one.has_value() == other.has_value();
  const auto is_same = [](const Value& a, const Value& b) {
    return a == b || (is_nan(a) && is_nan(b));
  };
  return one->text == other->text && std::ranges::equal(one->values, other->values, is_same);
}

/// Has a dataset's attributes, and applies them as netCDF4-python does.
class Attributes {
 public:
  explicit Attributes(const io::StoredDataset& info)
      : info_(info),
        attributes_(io::read_number_attributes(info.file, info.name, attribute_names)) {}

  void take_fill_values(AppliedAttributes& applied) const {
    for (const std::string name : {"_FillValue", "missing_value"})
      if (const Attribute& attribute = find(name)) take_fill_values(name, *attribute, applied);
    if (info_.has_default_fill) take_default_fill(applied);
    if (std::ranges::count_if(applied.fill_values, std::not_fn(is_nan)) > ValueFilter::max_excluded)
      throw_unclear(info_, "_FillValue or missing_value",
                    "they have more than " + std::to_string(ValueFilter::max_excluded) + " values");
  }

  void take_valid_range(AppliedAttributes& applied) const {
    const auto range = bounds("valid_range", 2, applied);
    const auto minimum = range ? range : bounds("valid_min", 1, applied);
    const auto maximum = range ? range : bounds("valid_max", 1, applied);
    if (minimum && !is_nan(minimum->front())) applied.valid_min = minimum->front();
    if (maximum && !is_nan(maximum->back())) applied.valid_max = maximum->back();
  }

  Unpacking take_packing(AppliedAttributes& applied) const {
    auto scale = single_number("scale_factor");
    auto offset = single_number("add_offset");
    const bool both = scale && offset;
    if (offset && equals(*offset, 0) && (!scale || equals(*scale, 1))) offset.reset();
    if (scale && equals(*scale, 1) && !both) scale.reset();
    if (scale) applied.scale_factor = scale->value;
    if (offset) applied.add_offset = offset->value;
    return scale || offset ? make_unpacking(info_.format.type, scale, offset) : Unpacking{};
  }

  bool is_packed() const {
    return info_.marked_unsigned || find("scale_factor") || find("add_offset");
  }

  bool operator==(const Attributes& other) const {
    return std::ranges::equal(attributes_, other.attributes_, are_equal);
  }

 private:
  const Attribute& find(const std::string& name) const {
    const auto place = std::ranges::find(attribute_names, name) - attribute_names.begin();
    return attributes_[static_cast<std::size_t>(place)];
  }

  void take_default_fill(AppliedAttributes& applied) const {
    const ElementType type = info_.format.type;
    add_fill(io::netcdf_default_fill(info_.taken_as_unsigned ? signed_type(type) : type), applied);
  }

  /// Adds the value of elements that are stored as a number, if there can be one, once.
  void add_fill(const Value& number, AppliedAttributes& applied) const {
    const std::optional<Value> fill =
        held_value(number, info_.format.type, info_.taken_as_unsigned);
    if (!fill) return;
    std::vector<Value>& fills = applied.fill_values;
    const bool known = is_nan(*fill) ? std::ranges::any_of(fills, is_nan)
                                     : std::ranges::find(fills, *fill) != fills.end();
    if (!known) fills.push_back(*fill);
  }

  void take_fill_values(const std::string& name, const io::NumberAttribute& attribute,
                        AppliedAttributes& applied) const {
    if (is_number(trimmed(attribute.text)))
      throw_unclear(info_, name, "it is a string, '" + attribute.text + "', instead of a number");
    if (attribute.values.empty()) applied.ignored.emplace_back(name, attribute.instead);
    for (const Value& number : attribute.values) add_fill(number, applied);
  }

  /// Returns the values of an attribute of `count` numbers; none, and says so, where it has others.
  std::optional<std::vector<Value>> bounds(const std::string& name, std::size_t count,
                                           AppliedAttributes& applied) const {
    const Attribute& attribute = find(name);
    if (!attribute) return std::nullopt;
    const auto ignore = [&](const std::string& why) {
      applied.ignored.emplace_back(name, why);
      return std::nullopt;
    };
    if (attribute->values.empty()) return ignore(attribute->instead);
    if (attribute->values.size() != count)
      return ignore("it has " + counted_values(attribute->values.size()));
    std::vector<Value> values;
    for (const Value& number : attribute->values) {
      const std::optional<Value> value =
          held_value(number, info_.format.type, info_.taken_as_unsigned);
      if (!value) return ignore(std::string(name_of(info_.format.type)) + " can't hold it");
      values.push_back(*value);
    }
    return values;
  }

  std::optional<TypedNumber> single_number(const std::string& name) const {
    const Attribute& attribute = find(name);
    if (!attribute) return std::nullopt;
    if (attribute->values.empty()) throw_unclear(info_, name, attribute->instead);
    if (attribute->values.size() != 1)
      throw_unclear(info_, name, "it has " + counted_values(attribute->values.size()));
    const Value& number = attribute->values.front();
    const auto* real = std::get_if<double>(&number);
    if (real != nullptr && !std::isfinite(*real)) throw_unclear(info_, name, "it is not finite");
    return TypedNumber{attribute->type, number};
  }

  const io::StoredDataset& info_;
  std::vector<Attribute> attributes_;
};

/// Leaves out what stands for elements that files leave out.
ValueFilter filter_of_unpacked(const io::DatasetInfo& info) {
  const auto& left_out = info.parts->unpacked.left_out;
  if (!left_out) return {};
  const Value value = value_of_bits(*left_out, info.format.type);
  return filter_of_stored({&value, 1}, {}, {}, info.format.type);
}

void check(const ViewOptions& options) {
  if (options.raw && options.fill_value == "auto")
    throw usage_error("`raw` and `fill_value` auto contradict each other",
                      "`raw` uses stored numbers, auto applies attributes", "Omit one of them.");
}

}  // namespace

std::optional<Value> declared_fill_value(const io::StoredDataset& info) {
  const auto fill_value = std::span(attribute_names).first(1);
  const Attribute attribute = io::read_number_attributes(info.file, info.name, fill_value).front();
  if (!attribute || attribute->values.empty()) return std::nullopt;
  return held_value(attribute->values.front(), info.format.type, info.taken_as_unsigned);
}

Interpretation interpret(const io::DatasetInfo& info, const ViewOptions& options) {
  check(options);
  const Attributes attributes(info);
  const ElementType type = info.format.type;
  Interpretation result;
  AppliedAttributes& applied = result.applied;
  const bool is_unpacked = io::is_unpacked(info);
  if (options.raw) {
    result.packed = attributes.is_packed();
    for (io::StoredDataset stored = info; const std::string& file : info.files) {
      stored.file = file;
      const Attributes there(stored);
      result.packed |= there.is_packed();
      result.of_several_packings |= !(there == attributes);
    }
  } else if (is_unpacked) {
    applied.of_each_file = true;
  } else {
    applied.is_unsigned = info.taken_as_unsigned;
    result.decoding.unpacking = attributes.take_packing(applied);
  }
  const bool uses_attributes =
      options.fill_value.empty() ? !options.raw : options.fill_value == "auto";
  if (is_unpacked) {
    result.decoding.stored = filter_of_unpacked(info);
  } else if (uses_attributes) {
    attributes.take_fill_values(applied);
    attributes.take_valid_range(applied);
  } else if (!options.fill_value.empty() && options.fill_value != "none") {
    applied.fill_values = {parse_fill_value(options.fill_value, type)};
  }
  if (!is_unpacked)
    result.decoding.stored =
        filter_of_stored(applied.fill_values, applied.valid_min, applied.valid_max, type);
  result.decoding.values =
      filter_of_conditions(own_conditions(options.where), result.decoding.value_type(type));
  return result;
}

}  // namespace warpfold::pipeline
