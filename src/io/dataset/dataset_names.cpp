#include "io/dataset/dataset_names.hpp"

#include <algorithm>
#include <exception>

#include "io/hdf5/hdf5_error.hpp"

namespace warpfold::io {
namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info2_t;
#else
using ObjectInfo = H5O_info_t;
#endif

herr_t collect_dataset(hid_t, const char* name, const ObjectInfo* object, void* names_pointer) {
  if (object->type != H5O_TYPE_DATASET) return 0;
  try {
    static_cast<std::vector<std::string>*>(names_pointer)->emplace_back(name);
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

herr_t visit_objects(hid_t location, std::vector<std::string>& names) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Ovisit3(location, H5_INDEX_NAME, H5_ITER_NATIVE, collect_dataset, &names,
                   H5O_INFO_BASIC);
#else
  return H5Ovisit2(location, H5_INDEX_NAME, H5_ITER_NATIVE, collect_dataset, &names,
                   H5O_INFO_BASIC);
#endif
}

}  // namespace

std::vector<std::string> dataset_names(hid_t location) {
  std::vector<std::string> names;
  require(visit_objects(location, names), "cannot list the datasets");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace warpfold::io
