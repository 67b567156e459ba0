#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <variant>

#include "core/numeric/field_sum.hpp"
#include "cpu/engines/host_array_engine.hpp"
#include "python/bindings.hpp"
#include "python/host_array.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warpfold::python {
namespace {

/// Returns this thread's engine, which adds arrays up.
cpu::HostArrayEngine& engine() {
  thread_local cpu::HostArrayEngine mine;
  return mine;
}

/// The exact sum of any elements, and how many there were.
class Total {
 public:
  void add(const HostMemory& memory, const char* type, const HostMask& mask) {
    add(array_of(memory, type), bytes_of(mask));
  }

  /// Adds an array that can be taken as it lies; returns false for others.
  bool add_packed(nb::handle object) {
    const std::optional<PackedElements> elements = packed_elements(object);
    if (elements) add(elements->array, nullptr);
    return elements.has_value();
  }

  void merge(const Total& other) { merge(other.sum_, other.count_); }

  double rounded() const { return std::get<double>(value_of(sum_, ElementType::f64)); }

  std::int64_t count() const { return count_; }
  std::int64_t nan_count() const { return sum_.nan_count; }
  std::int64_t positive_infinities() const { return sum_.positive_infinities; }
  std::int64_t negative_infinities() const { return sum_.negative_infinities; }

  /// Returns the finite elements' sum, in units of 2^-1088: bytes of an integer with a sign, the
  /// least first.
  nb::bytes units() const {
    const ExactSum& sum = finite();
    std::array<char, unit_bytes> bytes;
    for (int i = 0; i < ExactSum::limbs; ++i)
      std::memcpy(bytes.data() + 4 * i, &sum.limb[i], i + 1 < ExactSum::limbs ? 4 : 8);
    return nb::bytes(bytes.data(), bytes.size());
  }

  /// Makes a total of such bytes and counts. Throws nb::value_error for other than units() gives.
  static Total of(std::int64_t count, std::int64_t nan_count, std::int64_t positive_infinities,
                  std::int64_t negative_infinities, const nb::bytes& units) {
    if (units.size() != unit_bytes) throw nb::value_error("a sum has 276 bytes");
    Total total;
    total.count_ = count;
    total.sum_.nan_count = nan_count;
    total.sum_.positive_infinities = positive_infinities;
    total.sum_.negative_infinities = negative_infinities;
    for (int i = 0; i < ExactSum::limbs; ++i)
      std::memcpy(&total.finite().limb[i], units.c_str() + 4 * i, i + 1 < ExactSum::limbs ? 4 : 8);
    return total;
  }

 private:
  void add(const Array& array, const std::uint8_t* mask) {
    FieldSum part;
    std::int64_t counted = 0;
    {
      const ReleasedForLong released(array);
      part = engine().sum({array, {}, mask});
      counted = counted_of(array, mask);
    }
    merge(part, counted);
  }

  static constexpr std::size_t unit_bytes = 4 * ExactSum::limbs + 4;
  static_assert(unit_bytes == 276 && std::endian::native == std::endian::little);

  ExactSum& finite() { return std::get<ExactSum>(sum_.finite); }
  const ExactSum& finite() const { return std::get<ExactSum>(sum_.finite); }

  static std::int64_t counted_of(const Array& array, const std::uint8_t* mask) {
    const auto left_out = mask == nullptr ? 0 : std::count(mask, mask + array.count, 0);
    return static_cast<std::int64_t>(array.count) - left_out;
  }

  void merge(const FieldSum& other, std::int64_t counted) {
    count_ += counted;
    sum_.nan_count += other.nan_count;
    sum_.positive_infinities += other.positive_infinities;
    sum_.negative_infinities += other.negative_infinities;
    finite().add(std::get<ExactSum>(other.finite));
    finite().normalize();
  }

  FieldSum sum_{0, 0, 0, ExactSum{}};
  std::int64_t count_ = 0;
};

}  // namespace

void add_exact_sums(nb::module_& module) {
  nb::class_<Total>(module, "Total")
      .def(nb::init<>())
      .def_static("of", &Total::of, "count"_a, "nan_count"_a, "positive_infinities"_a,
                  "negative_infinities"_a, "units"_a)
      .def("add", nb::overload_cast<const HostMemory&, const char*, const HostMask&>(&Total::add),
           "elements"_a, "type"_a.none(), "mask"_a.none() = nb::none())
      .def("add_packed", &Total::add_packed, "array"_a)
      .def("merge", nb::overload_cast<const Total&>(&Total::merge), "other"_a)
      .def("rounded", &Total::rounded)
      .def("units", &Total::units)
      .def_prop_ro("count", &Total::count)
      .def_prop_ro("nan_count", &Total::nan_count)
      .def_prop_ro("positive_infinities", &Total::positive_infinities)
      .def_prop_ro("negative_infinities", &Total::negative_infinities);
}

}  // namespace warpfold::python
