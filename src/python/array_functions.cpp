#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/options/operations.hpp"
#include "cli/options/option_values.hpp"
#include "python/bindings.hpp"
#include "python/host_array.hpp"
#include "python/values.hpp"
#include "python/watched_call.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/device_collectives.hpp"
#include "warpfold/host_collectives.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warpfold::python {
namespace {

/// The results of an array where none are named.
constexpr const char* default_ops = "count,sum,min,max,mean,std";

/// Parses names of statistics. Throws a usage Error for others, which for quantiles says where to
/// have them.
std::vector<Statistic> statistics_of(const std::string& names) {
  try {
    return parse_statistics(names);
  } catch (const Error&) {
    const cli::Operations operations = cli::parse_operations("ops", names);
    if (operations.quantiles.empty()) throw;
    throw usage_error(operations.quantiles.front() + " is not supported for arrays in memory",
                      "only datasets in files have quantiles",
                      "Write the array to a file, or use numpy.quantile.");
  }
}

ArrayReduceOptions reduce_options(const std::string& statistics, const std::string& nan,
                                  const std::string& overflow, std::uint64_t ddof) {
  ArrayReduceOptions options;
  options.statistics = statistics_of(statistics);
  options.summary.nan = cli::parse_choice("nan", nan, cli::nan_policies);
  options.summary.overflow = cli::parse_choice("overflow", overflow, cli::overflow_policies);
  options.summary.ddof = ddof;
  return options;
}

ArrayScanOptions scan_options(const std::string& operation, bool exclusive,
                              const std::optional<std::string>& output_type,
                              const std::string& overflow) {
  ArrayScanOptions options;
  options.operation = parse_scan_operation(operation);
  options.exclusive = exclusive;
  if (output_type) options.output_type = parse_element_type(*output_type);
  options.overflow = cli::parse_choice("overflow", overflow, cli::overflow_policies);
  return options;
}

/// Returns what prepare() does. Where it throws an Error, so do all ranks, whatever they call.
template <class Collectives, class Prepare>
std::invoke_result_t<Prepare> met(Collectives& collectives, Prepare&& prepare) {
  std::optional<Error> mistake;
  try {
    return prepare();
  } catch (const Error& error) {
    mistake = error;
  }
  collectives.refuse(*mistake);
}

/// Has every rank throw a usage Error for what this one was given.
template <class Arrays>
void refuse(Arrays& arrays, const std::string& what, const std::string& why,
            const std::string& advice) {
  const nb::gil_scoped_release released;
  arrays.collectives().refuse(usage_error(what, why, advice));
}

/// Collectives of processes or of one alone, over arrays in host memory.
class HostArrays {
 public:
  explicit HostArrays(std::uintptr_t communicator) : collectives_(communicator_at(communicator)) {}

  nb::dict reduce(const HostMemory& memory, const char* type, const HostMask& mask,
                  const std::string& statistics, const std::string& nan,
                  const std::string& overflow, std::uint64_t ddof) {
    Summary summary;
    {
      const nb::gil_scoped_release released;
      const ArrayReduceOptions options =
          met(collectives_, [&] { return reduce_options(statistics, nan, overflow, ddof); });
      summary = collectives_.reduce(array_of(memory, type), options, bytes_of(mask));
    }
    return to_python(summary);
  }

  nb::object scan(const HostMemory& memory, const char* type, const std::string& operation,
                  bool exclusive, const std::optional<std::string>& output_type,
                  const std::string& overflow) {
    const Array array = met(collectives_, [&] { return array_of(memory, type); });
    const ArrayScanOptions options = met(collectives_, [&] {
      const ArrayScanOptions made = scan_options(operation, exclusive, output_type, overflow);
      if (output_of(made, array.type) == ElementType::bf16)
        throw usage_error("NumPy has no bfloat16", "the prefixes would have that type",
                          "Give another `output_type`.");
      return made;
    });
    const nb::object prefixes = empty_array({array.count}, output_of(options, array.type));
    void* const place = memory_of(prefixes);
    const nb::gil_scoped_release released;
    collectives_.scan(array, place, options);
    return prefixes;
  }

  HostCollectives& collectives() { return collectives_; }

 private:
  static ElementType output_of(const ArrayScanOptions& options, ElementType type) {
    return options.output_type.value_or(default_scan_output(type, options.operation));
  }

  HostCollectives collectives_;
};

/// Returns whether `ops` names one result, and not several.
bool is_one(std::string_view ops) { return ops.find(',') == ops.npos && ops != "all"; }

/// Reduces an array of this process alone that can be taken as it lies; returns NotImplemented for
/// others. Spends little beside the reduction.
nb::object reduce_packed(nb::handle object, const char* ops, const char* nan, const char* overflow,
                         std::uint64_t ddof) {
  thread_local HostCollectives alone(MPI_COMM_SELF);
  const std::optional<PackedElements> elements = packed_elements(object);
  if (!elements) return nb::borrow(Py_NotImplemented);
  const ArrayReduceOptions options = reduce_options(ops, nan, overflow, ddof);
  Summary summary;
  {
    const ReleasedForLong released(elements->array);
    summary = alone.reduce(elements->array, options);
  }
  return is_one(ops) ? to_python(summary.front().second) : to_python(summary);
}

/// Collectives over arrays in the memory of the current device, which lie at addresses.
class DeviceArrays {
 public:
  explicit DeviceArrays(std::uintptr_t communicator)
      : collectives_(communicator_at(communicator)) {}

  nb::dict reduce(std::uintptr_t data, std::uint64_t count, const std::string& type,
                  std::uintptr_t stream, const std::string& statistics, const std::string& nan,
                  const std::string& overflow, std::uint64_t ddof) {
    const DeviceArray array{reinterpret_cast<const void*>(data), count, parse_element_type(type)};
    Summary summary;
    {
      const nb::gil_scoped_release released;
      const ArrayReduceOptions options =
          met(collectives_, [&] { return reduce_options(statistics, nan, overflow, ddof); });
      summary = collectives_.reduce(array, options, reinterpret_cast<DeviceStream>(stream));
    }
    return to_python(summary);
  }

  void scan(std::uintptr_t data, std::uint64_t count, const std::string& type,
            std::uintptr_t stream, std::uintptr_t output, const std::string& output_type,
            const std::string& operation, bool exclusive, const std::string& overflow) {
    const DeviceArray array{reinterpret_cast<const void*>(data), count, parse_element_type(type)};
    const nb::gil_scoped_release released;
    const ArrayScanOptions options = met(
        collectives_, [&] { return scan_options(operation, exclusive, output_type, overflow); });
    collectives_.scan(array, reinterpret_cast<void*>(output), options,
                      reinterpret_cast<DeviceStream>(stream));
  }

  DeviceCollectives& collectives() { return collectives_; }

 private:
  DeviceCollectives collectives_;
};

}  // namespace

void add_array_functions(nb::module_& module) {
  nb::class_<HostArrays>(module, "HostArrays")
      .def(nb::init<std::uintptr_t>(), "communicator"_a)
      .def("reduce", &HostArrays::reduce, "elements"_a, "type"_a.none(), "mask"_a.none(),
           "ops"_a = default_ops, "nan"_a = "propagate", "overflow"_a = "error", "ddof"_a = 0)
      .def("refuse", refuse<HostArrays>, "what"_a, "why"_a, "advice"_a)
      .def("scan", &HostArrays::scan, "elements"_a, "type"_a.none(), "op"_a = "sum",
           "exclusive"_a = false, "output_type"_a = nb::none(), "overflow"_a = "error");
  module.def(
      "type_name",
      [](const std::string& name) { return std::string(name_of(parse_element_type(name))); },
      "name"_a);
  module.def("reduce_packed", reduce_packed, "array"_a, "ops"_a, "nan"_a = "propagate",
             "overflow"_a = "error", "ddof"_a = 0);
  nb::class_<DeviceArrays>(module, "DeviceArrays")
      .def(nb::init<std::uintptr_t>(), "communicator"_a)
      .def("refuse", refuse<DeviceArrays>, "what"_a, "why"_a, "advice"_a)
      .def("reduce", &DeviceArrays::reduce, "data"_a, "count"_a, "type"_a, "stream"_a,
           "ops"_a = default_ops, "nan"_a = "propagate", "overflow"_a = "error", "ddof"_a = 0)
      .def("scan", &DeviceArrays::scan, "data"_a, "count"_a, "type"_a, "stream"_a, "output"_a,
           "output_type"_a, "op"_a = "sum", "exclusive"_a = false, "overflow"_a = "error");
}

}  // namespace warpfold::python
