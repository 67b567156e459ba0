#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::python {

/// Makes None of nothing, a numpy.float64 of a floating-point number, an int of an integer.
nanobind::object to_python(const Value& value);
nanobind::object to_python(double value);

/// Makes an int.
nanobind::object to_python(int128 value);

/// Makes a dict of values by the names of statistics.
nanobind::dict to_python(const Summary& summary);

/// Returns NumPy's type of elements other than bfloat16.
nanobind::object numpy_type(ElementType type);

/// Makes a new NumPy array, not filled; of bfloat16, which NumPy lacks, one of float32.
nanobind::object empty_array(const std::vector<std::uint64_t>& shape, ElementType type);

/// Returns where the elements of an array of empty_array() are.
void* memory_of(const nanobind::object& array);

}  // namespace warpfold::python
