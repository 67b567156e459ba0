#pragma once

#include <nanobind/nanobind.h>

/// Each function adds its subject to the extension module, which the package's Python code calls.
namespace warpfold::python {

/// Has Errors of the library raise the package's exceptions.
void translate_errors();

void add_file_functions(nanobind::module_& module);
void add_array_functions(nanobind::module_& module);
void add_variable_files(nanobind::module_& module);
void add_exact_sums(nanobind::module_& module);
void add_dlpack_arrays(nanobind::module_& module);

}  // namespace warpfold::python
