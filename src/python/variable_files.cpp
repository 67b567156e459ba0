#include <hdf5.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimension_scales.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/stored_values.hpp"
#include "io/output/dataset_create.hpp"
#include "python/bindings.hpp"
#include "python/host_array.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace warpfold::python {
namespace {

/// Name, shape, type of elements (empty: UTF-8 texts of one length, which zeros pad), their bytes,
/// names of dimensions if they have some, attributes.
using Variable = std::tuple<std::string, std::vector<std::uint64_t>, std::string, HostMemory,
                            std::vector<std::string>, std::vector<io::TextAttribute>>;

/// Writes variables to a file. One that has the name of its only dimension is its coordinate, and
/// comes before variables that have the dimension.
class VariableWriter {
 public:
  VariableWriter(hid_t file, const std::string& problem) : file_(file), problem_(problem) {}

  void write(const Variable& variable) {
    const auto& [name, shape, type_name, memory, dimensions, attributes] = variable;
    const TypeHandle type = make_type(type_name, memory.nbytes(), product(shape));
    const io::SpaceHandle space = io::make_space(shape, problem_);
    io::DatasetHandle made = create(name, type.get(), space.get());
    if (memory.nbytes() != 0)
      io::require(H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, memory.data()),
                  problem_);
    io::add_text_attributes(made.get(), attributes, problem_);
    if (dimensions == std::vector{name}) {
      io::make_scale(made.get(), name, problem_);
      scales_[name] = std::move(made);
      return;
    }
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      io::attach_scale(made.get(), scale(dimensions[d], shape[d]), d, problem_);
  }

 private:
  using TypeHandle = io::TypeHandle;

  TypeHandle make_type(const std::string& name, std::size_t bytes, std::uint64_t elements) const {
    if (!name.empty()) return io::make_type({parse_element_type(name), native_byte_order});
    return io::make_text_type(elements == 0 ? 1 : bytes / elements, problem_);
  }

  io::DatasetHandle create(const std::string& name, hid_t type, hid_t space) const {
    return io::create_coordinate(file_, name, type, space, false, problem_);
  }

  hid_t scale(const std::string& name, std::uint64_t extent) {
    io::DatasetHandle& scale = scales_[name];
    if (!scale) {
      scale = create(name, H5T_IEEE_F32BE, io::make_space({extent}, problem_).get());
      io::make_scale_without_values(scale.get(), extent, problem_);
    }
    return scale.get();
  }

  hid_t file_;
  const std::string& problem_;
  std::map<std::string, io::DatasetHandle> scales_;
};

void write_variables(const std::string& path, const std::vector<Variable>& variables) {
  const nb::gil_scoped_release released;
  const io::LibraryScope scope;
  const std::string problem = "cannot write '" + path + "'";
  const auto access = io::make_access();
  io::FileHandle file(
      io::require(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.get()), problem));
  VariableWriter writer(file.get(), problem);
  for (const Variable& variable : variables) writer.write(variable);
  io::require(H5Fflush(file.get(), H5F_SCOPE_LOCAL), problem);
}

}  // namespace

void add_variable_files(nb::module_& module) {
  module.def("write_variables", write_variables, "path"_a, "variables"_a);
}

}  // namespace warpfold::python
