#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/bindings.hpp"
#include "python/host_array.hpp"
#include "warpfold/core/error.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warpfold::python {
namespace {

using Memory = nb::ndarray<nb::ro>;
using WritableMemory = nb::ndarray<>;
using NumpyArray = nb::ndarray<nb::numpy, nb::ro>;

/// Lets an array's memory go, whose maker may be Python code, also while an exception is raised.
void let_go(void* memory) noexcept {
  const nb::error_scope raised;
  delete static_cast<Memory*>(memory);
}

/// Returns an object that keeps an array's memory alive.
nb::object owner_of(const Memory& memory) {
  auto kept = std::make_unique<Memory>(memory);
  nb::capsule owner(kept.get(), let_go);
  kept.release();
  return owner;
}

ElementType type_of(const Memory& memory) {
  const std::optional<ElementType> type = element_type_of(memory.dtype());
  if (type) return *type;
  throw usage_error("the array has elements of another type", "",
                    "Convert it to booleans, integers of up to 64 bits, bfloat16, float16, float32 "
                    "or float64.");
}

bool is_row_major(const Memory& memory) {
  if (memory.size() == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t d = memory.ndim(); d-- > 0;) {
    const auto extent = static_cast<std::int64_t>(memory.shape(d));
    if (extent != 1 && memory.stride(d) != expected) return false;
    expected *= extent;
  }
  return true;
}

/// Makes a NumPy array of an array's memory, and the name of its elements where those of the NumPy
/// array stand for others, or None.
nb::tuple numpy_view(const Memory& memory) {
  const bool stands_for_others = type_of(memory) == ElementType::bf16;
  std::vector<std::size_t> shape(memory.ndim());
  std::vector<std::int64_t> strides(memory.ndim());
  for (std::size_t d = 0; d < memory.ndim(); ++d) {
    shape[d] = memory.shape(d);
    strides[d] = memory.stride(d);
  }
  const NumpyArray view(
      memory.data(), memory.ndim(), shape.data(), owner_of(memory), strides.data(),
      stands_for_others ? nb::dtype<std::uint16_t>() : memory.dtype(), nb::device::cpu::value);
  return nb::make_tuple(nb::cast(view, nb::rv_policy::reference),
                        stands_for_others ? nb::cast("bfloat16") : nb::none());
}

/// Returns the address, the number and the type's name of the elements of a capsule on a device,
/// and what keeps their memory alive.
nb::tuple device_elements(nb::handle capsule, bool is_written) {
  Memory memory;
  if (is_written) {
    WritableMemory writable;
    if (!nb::try_cast(capsule, writable, false))
      throw usage_error("the output is read-only", "", "Pass an array that can be written.");
    memory = Memory(writable);
  } else {
    memory = nb::cast<Memory>(capsule, false);
  }
  if (!is_row_major(memory))
    throw usage_error("the array is not C-contiguous", "",
                      "Copy them: cupy.ascontiguousarray(array), tensor.contiguous().");
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(),
                        std::string(name_of(type_of(memory))), owner_of(memory));
}

}  // namespace

void add_dlpack_arrays(nb::module_& module) {
  module.def("numpy_view", numpy_view, "array"_a);
  module.def("device_elements", device_elements, "capsule"_a, "is_written"_a);
}

}  // namespace warpfold::python
