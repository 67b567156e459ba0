#include "io/matlab_array.hpp"

#include "io/hdf5_error.hpp"
#include "io/hdf5_handle.hpp"

namespace warpfold::io {
namespace {

constexpr const char* empty_mark = "MATLAB_empty";

/// The attribute is one integer; anything else is no mark of MATLAB's.
bool is_marked_empty(hid_t dataset) {
  if (H5Aexists(dataset, empty_mark) <= 0) return false;
  const AttributeHandle attribute(H5Aopen(dataset, empty_mark, H5P_DEFAULT));
  if (!attribute) return false;
  const SpaceHandle space(H5Aget_space(attribute.get()));
  const TypeHandle type(H5Aget_type(attribute.get()));
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return false;
  if (H5Tget_class(type.get()) != H5T_INTEGER) return false;
  int mark = 0;
  return H5Aread(attribute.get(), H5T_NATIVE_INT, &mark) >= 0 && mark != 0;
}

}  // namespace

std::string reason_against_matlab_array(hid_t dataset) {
  const bool empty = is_marked_empty(dataset);
  H5Eclear2(H5E_DEFAULT);
  return empty ? "it is an empty array of MATLAB's, which stores its extents" : "";
}

}  // namespace warpfold::io
