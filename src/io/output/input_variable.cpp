#include "io/output/input_variable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "core/base/text.hpp"
#include "core/values/cf_time.hpp"
#include "core/values/decoding.hpp"
#include "core/values/value_element.hpp"
#include "core/values/value_filters.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/number_attributes.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/library_versions.hpp"
#include "io/hdf5/netcdf_variable.hpp"
#include "io/hdf5/source_files.hpp"
#include "io/output/coordinates.hpp"
#include "io/output/dataset_create.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t max_carried_bytes = std::uint64_t{1} << 28;

/// Calls use(variable of the same path) in each file.
template <class Use>
void for_each_file(hid_t variable, SeveralFiles files, const Use& use) {
  const std::string path = path_of(variable, cannot_read_variable);
  for (const std::string& name : files) {
    const KeptFile kept(name);
    const FileHandle file = open_for_reading(name);
    use(open_dataset(file.get(), name, path, cannot_read_variable).get());
  }
}

using Packing = std::array<std::optional<TypedNumber>, 2>;

/// Numbers as stored that stand for missing ones; NaN always does.
struct MissingNumbers {
  std::vector<double> declared;      ///< numbers that attributes name
  std::optional<double> by_default;  ///< netCDF's fill value

  bool contains(double number) const {
    return by_default == number || std::ranges::find(declared, number) != declared.end();
  }
};

/// Meaning of a variable's numbers.
struct Meaning {
  std::string file;
  std::string units;
  std::string calendar;
  std::vector<std::optional<std::string>> cells;
  std::array<double, 3> packing{1, 0, 0};  ///< scale, offset, and 1 of integers taken as unsigned
  MissingNumbers missing = {};

  bool is_packed() const { return packing != std::array{1.0, 0.0, 0.0}; }
};

bool is_taken_as_unsigned(hid_t variable) {
  const auto type = number_type_of(variable, cannot_read_variable);
  return type && type->as_unsigned();
}

/// Returns the scale and the offset that unpack a variable's numbers.
Packing packing_of(hid_t variable) {
  if (!is_packed(variable)) return {};
  const std::string names[] = {"scale_factor", "add_offset"};
  const auto attributes = read_number_attributes(stored_file_of(variable, cannot_read_variable),
                                                 path_of(variable, cannot_read_variable), names);
  Packing packing;
  for (std::size_t i = 0; i < packing.size(); ++i)
    if (attributes[i] && attributes[i]->values.size() == 1)
      packing[i] = TypedNumber{attributes[i]->type, attributes[i]->values.front()};
  return packing;
}

/// Finds the numbers that are stored in place of a variable's missing ones.
MissingNumbers missing_numbers(hid_t variable) {
  const auto type = number_type_of(variable, cannot_read_variable);
  if (!type) return {};
  const auto taken = [&](const Value& number) {
    return held_value(number, type->taken, type->as_unsigned());
  };
  MissingNumbers missing;
  const std::string names[] = {"_FillValue", "missing_value"};
  for (const auto& attribute :
       read_number_attributes(stored_file_of(variable, cannot_read_variable),
                              path_of(variable, cannot_read_variable), names))
    for (const Value& number : attribute ? attribute->values : std::vector<Value>{})
      if (const auto value = taken(number); value && !is_nan(*value))
        missing.declared.push_back(element_of<double>(*value));
  const PropertiesHandle creation(require(H5Dget_create_plist(variable), cannot_read_variable));
  if (has_default_fill(variable, creation.get(), type->stored, cannot_read_variable))
    missing.by_default = element_of<double>(*taken(netcdf_default_fill(type->stored)));
  return missing;
}

Meaning meaning_of(hid_t variable, const std::string& bounds_of) {
  const auto text = [](hid_t object, const char* name) {
    return read_text_attribute(object, name, cannot_read_variable);
  };
  Meaning meaning{stored_file_of(variable, cannot_read_variable), "", "", {}};
  hid_t described = variable;
  DatasetHandle parent;
  if (!bounds_of.empty() && !text(variable, "units")) {
    const FileHandle file(require(H5Iget_file_id(variable), cannot_read_variable));
    parent = open_dataset(file.get(), meaning.file, bounds_of, cannot_read_variable);
    described = parent.get();
  }
  meaning.units = text(described, "units").value_or("");
  meaning.calendar = text(described, "calendar").value_or("standard");
  for (const char* name : {"bounds", "climatology"}) meaning.cells.push_back(text(variable, name));
  const Packing packing = packing_of(variable);
  meaning.packing[2] = is_taken_as_unsigned(variable) ? 1 : 0;
  if (is_packed(variable) && meaning.packing[2] == 0 && !packing[0] && !packing[1])
    throw Error(cannot_read_variable, "its scale_factor or add_offset is not a number", "");
  for (std::size_t i = 0; i < packing.size(); ++i)
    if (packing[i]) meaning.packing[i] = element_of<double>(packing[i]->value);
  meaning.missing = missing_numbers(variable);
  return meaning;
}

[[noreturn]] void throw_different(const Meaning& one, const Meaning& other, const std::string& what,
                                  const std::string& of_one, const std::string& of_other) {
  throw Error(cannot_read_variable,
              what + " differ; they are " + of_one + " in '" + one.file + "', " + of_other +
                  " in '" + other.file + "'",
              "");
}

/// Makes numbers of one file into those of the same meaning in another.
class Conversion {
 public:
  Conversion(const Meaning& from, const Meaning& to) {
    const std::string differ = " differ in '" + to.file + "' and '" + from.file + "'";
    const auto require_same = [&](bool are_same, const char* what) {
      if (!are_same) throw Error(cannot_read_variable, what + differ, "");
    };
    require_same(from.packing == to.packing, "its scale_factor, add_offset or _Unsigned");
    require_same(from.cells == to.cells, "the names of its bounds");
    require_same(from.missing.declared == to.missing.declared, "its missing values");
    if (from.units == to.units && from.calendar == to.calendar) return;
    try {
      from_.emplace(from.units, from.calendar, cannot_read_variable);
      to_.emplace(to.units, to.calendar, cannot_read_variable);
    } catch (const Error&) {
      throw_different(to, from, "units", "'" + to.units + "'", "'" + from.units + "'");
    }
    if (*from_ == *to_) {
      from_.reset();
    } else if (from.is_packed()) {
      throw_different(to, from, "units of packed times", to.units, from.units);
    }
    missing_ = from.missing;
    calendars_ = "calendars of times differ: " + to.calendar + " in '" + to.file + "', " +
                 from.calendar + " in '" + from.file + "'";
  }

  bool changes() const { return from_.has_value(); }

  void apply(std::span<double> numbers) const {
    for (double& number : numbers) {
      if (missing_.contains(number)) continue;
      const auto converted = from_->converted(number, *to_);
      if (!converted) throw Error(cannot_read_variable, calendars_, "");
      number = *converted;
    }
  }

 private:
  std::optional<TimeUnits> from_;
  std::optional<TimeUnits> to_;
  MissingNumbers missing_;
  std::string calendars_;
};

std::span<double> as_doubles(std::span<std::byte> bytes) {
  return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
}

/// Requires that no integer can have been rounded.
void require_exact(std::span<const double> numbers) {
  constexpr double most = std::uint64_t{1} << 53;
  if (std::ranges::any_of(numbers, [](double each) { return std::abs(each) > most; }))
    throw Error(cannot_read_variable, "its types differ in several files, and f64 cannot hold it",
                "");
}

/// Turns elements of a type into f64, in place.
void widen(std::vector<std::byte>& bytes, hid_t type) {
  const std::size_t size = H5Tget_size(type);
  const std::size_t elements = bytes.size() / size;
  bytes.resize(elements * std::max(size, sizeof(double)));
  require(H5Tconvert(type, H5T_NATIVE_DOUBLE, elements, bytes.data(), nullptr, H5P_DEFAULT),
          cannot_read_variable);
  bytes.resize(elements * sizeof(double));
}

StoredValues read_part_of_files(const InputVariable& variable, hid_t type, const Selection& part) {
  if (H5Tdetect_class(type, H5T_VLEN) != 0 || H5Tis_variable_str(type) != 0)
    throw Error(cannot_read_variable, "it has texts of any length in several files", "");
  const Meaning first_meaning = meaning_of(variable.handle, variable.bounds_of);
  const TypeHandle first_type(require(H5Dget_type(variable.handle), cannot_read_variable));
  hid_t stored = type;
  bool has_several_types = false;
  std::vector<std::byte> bytes;
  std::uint64_t first = 0;
  for_each_file(variable.handle, variable.files, [&](hid_t there) {
    const auto shape = shape_of(there, cannot_read_variable);
    const std::uint64_t extent = shape.empty() ? 1 : shape.front();
    Selection taken = part;
    taken.front() = slice_within(part.front(), {first, extent});
    first += extent;
    if (taken.front().count == 0) return;
    if (shape.empty()) taken.clear();
    const Conversion conversion(meaning_of(there, variable.bounds_of), first_meaning);
    const TypeHandle type_there(require(H5Dget_type(there), cannot_read_variable));
    const bool is_alike = H5Tequal(first_type.get(), type_there.get()) > 0;
    has_several_types |= !is_alike;
    if ((conversion.changes() || !is_alike) && stored == type) {
      widen(bytes, type);
      stored = H5T_NATIVE_DOUBLE;
    }
    const StoredValues values = read_part({there}, stored, taken);
    const std::size_t before = bytes.size();
    bytes.insert(bytes.end(), values.data(), values.data() + values.text().size());
    if (conversion.changes()) conversion.apply(as_doubles(std::span(bytes).subspan(before)));
  });
  if (has_several_types) require_exact(as_doubles(bytes));
  return {TypeHandle(require(H5Tcopy(stored), cannot_read_variable)),
          make_space(selected_shape(part), cannot_read_variable), std::move(bytes)};
}

ObjectInfo info_of(hid_t object) {
  ObjectInfo info;
  require(get_object_info(object, &info, H5O_INFO_BASIC), cannot_read_variable);
  return info;
}

}  // namespace

ObjectKey key_of(hid_t object) {
  const ObjectInfo info = info_of(object);
#if H5_VERSION_GE(1, 12, 0)
  const auto& place = info.token;
#else
  const auto& place = info.addr;
#endif
  return {info.fileno, std::string(reinterpret_cast<const char*>(&place), sizeof(place))};
}

bool is_in(hid_t file, hid_t object) { return info_of(file).fileno == info_of(object).fileno; }

unsigned hard_links_of(hid_t object) { return info_of(object).rc; }

std::vector<std::string> names_in(hid_t variable, const std::string& attribute) {
  const auto text = read_text_attribute(variable, attribute, cannot_read_variable);
  std::vector<std::string> names = split_words(text.value_or(""));
  for (std::string& name : names) name.resize(name.find_last_not_of(':') + 1);
  return names;
}

void require_units_of(hid_t variable, hid_t bounds) {
  const auto text = [](hid_t object, const char* name) {
    return read_text_attribute(object, name, cannot_read_variable);
  };
  const auto units = text(bounds, "units");
  const auto of_variable = text(variable, "units");
  const auto calendar = text(variable, "calendar").value_or("standard");
  const auto of_bounds = text(bounds, "calendar").value_or(calendar);
  if (!units || (units == of_variable && of_bounds == calendar)) return;
  bool same = false;
  try {
    same = TimeUnits(*units, of_bounds, "") == TimeUnits(of_variable.value_or(""), calendar, "");
  } catch (const Error&) {
    // They are no times, whose units are compared as texts.
  }
  if (!same)
    throw Error(cannot_read_variable,
                "their units are '" + *units + "', not '" + of_variable.value_or("") + "'", "");
}

void require_cells_of(std::span<const double> values, std::span<const double> cells) {
  constexpr double rounding = 1e-6;  // coordinates are often float32 where their bounds are float64
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [low, high] = std::minmax(cells[2 * i], cells[2 * i + 1]);
    const double slack = rounding * std::max({std::fabs(low), std::fabs(high), high - low});
    if (values[i] < low - slack || values[i] > high + slack)
      throw Error(cannot_read_variable, "they do not contain its values", "");
  }
}

std::vector<DatasetHandle> open_described(hid_t variable) {
  std::vector<DatasetHandle> opened;
  for (const std::string& attribute :
       {std::string("bounds"), std::string("climatology"), coordinates_name, grid_mapping_name})
    for (const std::string& word : names_in(variable, attribute))
      for (const std::string& name : {word, non_coordinate_prefix + word})
        if (DatasetHandle named = open_named(variable, name)) opened.push_back(std::move(named));
  return opened;
}

std::vector<std::uint64_t> shape_of(const InputVariable& variable) {
  std::vector<std::uint64_t> shape = shape_of(variable.handle, cannot_read_variable);
  if (variable.files.empty()) return shape;
  const TypeHandle type(require(H5Dget_type(variable.handle), cannot_read_variable));
  const bool packed = is_packed(variable.handle);
  std::uint64_t extent = 0;
  for_each_file(variable.handle, variable.files, [&](hid_t there) {
    std::vector<std::uint64_t> other = shape_of(there, cannot_read_variable);
    const TypeHandle other_type(require(H5Dget_type(there), cannot_read_variable));
    bool alike = H5Tequal(type.get(), other_type.get()) > 0 ||
                 (is_number(type.get()) && is_number(other_type.get()) && !packed);
    alike &= other.size() == shape.size();
    if (alike && shape.empty()) {
      ++extent;
    } else if (alike) {
      extent += std::exchange(other.front(), shape.front());
      alike = other == shape;
    }
    if (!alike)
      throw Error(cannot_read_variable,
                  "'" + path_of(there, cannot_read_variable) +
                      "' has a different type or other extents in '" + variable.files.front() +
                      "' than in '" + stored_file_of(there, cannot_read_variable) + "'",
                  "");
  });
  if (shape.empty()) return {extent};
  shape.front() = extent;
  return shape;
}

bool is_number(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return type_class == H5T_INTEGER || type_class == H5T_FLOAT;
}

bool is_number_or_text(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  return is_number(type) || type_class == H5T_STRING || type_class == H5T_ENUM;
}

bool has_indices(const Slice& slice, std::uint64_t extent) {
  return slice.count == 0 || slice.start + (slice.count - 1) * slice.step < extent;
}

bool is_monotonic(const std::vector<double>& values) {
  const bool rises = values.front() < values.back();
  for (std::size_t i = 1; i < values.size(); ++i)
    if (!(rises ? values[i - 1] < values[i] : values[i - 1] > values[i])) return false;
  return std::isfinite(values.front()) && std::isfinite(values.back());
}

bool is_packed(hid_t variable) {
  return has_attribute(variable, "scale_factor") || has_attribute(variable, "add_offset") ||
         is_taken_as_unsigned(variable);
}

StoredValues read_part(const InputVariable& variable, hid_t type, const Selection& part) {
  const std::vector<std::uint64_t> shape = selected_shape(part);
  std::uint64_t bytes = H5Tget_size(type);
  for (const std::uint64_t extent : shape) {
    if (extent > max_carried_bytes / std::max<std::uint64_t>(bytes, 1))
      throw Error(cannot_read_variable,
                  "it has more than " + std::to_string(max_carried_bytes) + " bytes", "");
    bytes *= extent;
  }
  if (!variable.files.empty()) return read_part_of_files(variable, type, part);
  const PropertiesHandle creation(
      require(H5Dget_create_plist(variable.handle), cannot_read_variable));
  require_available(filters_of(creation.get()), cannot_read_variable);
  // HDF5 itself would take elements of missing files for fill values.
  source_files(variable.handle, stored_file_of(variable.handle, cannot_read_variable),
               cannot_read_variable);
  return values_of_dataset(variable.handle, type, part, make_space(shape, cannot_read_variable),
                           cannot_read_variable);
}

bool are_alike(const StoredValues& values, std::uint64_t count) {
  const auto text = values.text();
  const std::size_t bytes = text.size() / count;
  return text.substr(bytes) == text.substr(0, text.size() - bytes);
}

StoredValues values_of_all_indices(const InputVariable& variable, hid_t type, Selection part) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 22;
  if (product(counts_of(part)) > most_elements)
    throw Error(cannot_read_variable, "it is large, and a dimension of it is reduced", "");
  const StoredValues all = read_part(variable, type, part);
  const std::size_t bytes = all.text().size() / part.front().count;
  if (!are_alike(all, part.front().count))
    throw Error(cannot_read_variable, "it varies along a dimension that is reduced", "");
  part.front().dropped = true;
  return {TypeHandle(require(H5Tcopy(all.type()), cannot_read_variable)),
          make_space(selected_shape(part), cannot_read_variable),
          std::vector(all.data(), all.data() + bytes)};
}

std::optional<std::pair<ElementType, Unpacking>> unpacking_of(hid_t variable) {
  const auto type = number_type_of(variable, cannot_read_variable);
  if (!type || !is_packed(variable)) return std::nullopt;
  const Packing packing = packing_of(variable);
  return std::pair{type->taken, make_unpacking(type->taken, packing[0], packing[1])};
}

std::vector<double> read_numbers(const InputVariable& variable, const Selection& part) {
  const MissingNumbers missing = missing_numbers(variable.handle);
  const auto number_of = [&](double stored, double value) {
    return missing.contains(stored) ? std::numeric_limits<double>::quiet_NaN() : value;
  };
  const auto packed = unpacking_of(variable.handle);
  if (!packed) {
    const StoredValues values = read_part(variable, H5T_NATIVE_DOUBLE, part);
    const auto* first = reinterpret_cast<const double*>(values.data());
    std::vector<double> numbers(first, first + H5Sget_simple_extent_npoints(values.space()));
    for (double& number : numbers) number = number_of(number, number);
    return numbers;
  }
  Decoding decoding;
  decoding.unpacking = packed->second;
  const TypeHandle type =
      make_type({number_type_of(variable.handle, cannot_read_variable)->stored, native_byte_order});
  const StoredValues values = read_part(variable, type.get(), part);
  std::vector<double> numbers(values.text().size() / size_of(packed->first));
  visit_element_type(packed->first, [&](auto element) {
    visit_value_of<decltype(element)>(decoding.unpacking, [&](auto value) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::memcpy(static_cast<void*>(&element), values.data() + i * sizeof(element),
                    sizeof(element));
        decode(decoding, element, value);
        numbers[i] = number_of(widened(element), widened(value));
      }
    });
  });
  return numbers;
}

}  // namespace warpfold::io
