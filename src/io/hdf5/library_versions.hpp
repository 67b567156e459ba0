#pragma once

#include <hdf5.h>

namespace warpfold::io {

/// Functions and types that HDF5 1.12 renamed.
#if H5_VERSION_GE(1, 12, 0)
using LinkInfo = H5L_info2_t;
using ObjectInfo = H5O_info2_t;
constexpr auto get_link_info = H5Lget_info2;
constexpr auto iterate_links = H5Literate2;
constexpr auto visit_links = H5Lvisit_by_name2;
constexpr auto get_object_info = H5Oget_info3;
constexpr auto get_object_info_by_name = H5Oget_info_by_name3;
#else
using LinkInfo = H5L_info_t;
using ObjectInfo = H5O_info_t;
constexpr auto get_link_info = H5Lget_info;
constexpr auto iterate_links = H5Literate;
constexpr auto visit_links = H5Lvisit_by_name;
constexpr auto get_object_info = H5Oget_info2;
constexpr auto get_object_info_by_name = H5Oget_info_by_name2;
#endif

}  // namespace warpfold::io
