#include "io/hdf5_error.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

herr_t collect_cause(unsigned, const H5E_error2_t* entry, void* causes_pointer) {
  auto& causes = *static_cast<std::vector<std::string>*>(causes_pointer);
  try {
    if (entry->desc == nullptr || *entry->desc == '\0') return 0;
    std::string cause = entry->desc;
    if (std::find(causes.begin(), causes.end(), cause) == causes.end()) {
      causes.push_back(std::move(cause));
    }
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

}  // namespace

std::string take_library_causes() {
  std::vector<std::string> causes;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect_cause, &causes);
  H5Eclear2(H5E_DEFAULT);
  std::string text = "HDF5";
  for (std::size_t i = 0; i < causes.size(); ++i) text += (i == 0 ? ": " : "; ") + causes[i];
  return causes.empty() ? "HDF5 gives no reason" : text;
}

void throw_library_error(const std::string& problem, const std::string& suggestion) {
  throw Error(problem, take_library_causes(), suggestion);
}

}  // namespace warpfold::io
