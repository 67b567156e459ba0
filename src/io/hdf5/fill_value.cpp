#include "io/hdf5/fill_value.hpp"

#include "io/hdf5/hdf5_error.hpp"

namespace warpfold::io {

bool may_leave_elements_unset(hid_t creation, const std::string& problem) {
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  H5D_fill_value_t value = H5D_FILL_VALUE_DEFAULT;
  require(H5Pget_fill_time(creation, &time), problem);
  require(H5Pfill_value_defined(creation, &value), problem);
  return time == H5D_FILL_TIME_NEVER || value == H5D_FILL_VALUE_UNDEFINED;
}

std::array<std::byte, 8> fill_value_of(hid_t creation, hid_t file_type,
                                       const std::string& problem) {
  std::array<std::byte, 8> fill{};
  if (may_leave_elements_unset(creation, problem)) return fill;
  require(H5Pget_fill_value(creation, file_type, fill.data()), problem);
  return fill;
}

}  // namespace warpfold::io
