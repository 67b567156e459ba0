#include "python/values.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <limits>

namespace nb = nanobind;

namespace warpfold::python {
namespace {

nb::object numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }

/// Returns numpy.float64, which is looked up once.
nb::handle float64() {
  static const nb::handle type = numpy("float64").release();
  return type;
}

nb::object shape_of(const std::vector<std::uint64_t>& shape) {
  nb::list extents;
  for (const std::uint64_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

}  // namespace

nb::object to_python(double value) { return float64()(value); }

nb::object to_python(int128 value) {
  if (value >= std::numeric_limits<std::int64_t>::min() &&
      value <= std::numeric_limits<std::int64_t>::max())
    return nb::int_(static_cast<std::int64_t>(value));
  return nb::int_(nb::cast(to_string(value)));
}

nb::object to_python(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return to_python(*number);
  if (const auto* integer = std::get_if<int128>(&value)) return to_python(*integer);
  return nb::none();
}

nb::dict to_python(const Summary& summary) {
  nb::dict values;
  for (const auto& [statistic, value] : summary)
    values[nb::cast(std::string(name_of(statistic)))] = to_python(value);
  return values;
}

nb::object numpy_type(ElementType type) {
  return numpy("dtype")(std::string(name_of(type).substr(0, 1)) + std::to_string(size_of(type)));
}

nb::object empty_array(const std::vector<std::uint64_t>& shape, ElementType type) {
  const ElementType held = type == ElementType::bf16 ? ElementType::f32 : type;
  return numpy("empty")(shape_of(shape), numpy_type(held));
}

void* memory_of(const nb::object& array) {
  return nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(array).data();
}

}  // namespace warpfold::python
