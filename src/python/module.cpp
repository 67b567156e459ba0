#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "cli/report/text.hpp"
#include "python/bindings.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/version.hpp"

namespace nb = nanobind;

namespace warpfold::python {
namespace {

std::string mpi_library() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Raises the package's exception of an Error, in the words of options.
void raise(const Error& error) {
  const nb::object made =
      nb::module_::import_("warpfold._errors")
          .attr("exception_of")(cli::with_flags(error.problem()), cli::with_flags(error.why()),
                                cli::with_flags(error.suggestion()),
                                error.exit_code() == ExitCode::usage);
  PyErr_SetObject(made.type().ptr(), made.ptr());
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& failure, void*) {
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace warpfold::python

NB_MODULE(_core, module) {
  using namespace warpfold;
  module.attr("version") = std::string(version());
  module.def("mpi_library", python::mpi_library);
  python::translate_errors();
  python::add_file_functions(module);
  python::add_array_functions(module);
  python::add_variable_files(module);
  python::add_exact_sums(module);
  python::add_dlpack_arrays(module);
}
