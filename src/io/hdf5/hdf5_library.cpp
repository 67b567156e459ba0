#include "io/hdf5/hdf5_library.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

namespace warpfold::io {
namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

std::atomic<bool> something_is_left_open = false;

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

LibraryScope::LibraryScope() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryScope::~LibraryScope() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

herr_t append_name(const char* name, void* names) noexcept {
  try {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

void note_left_open() noexcept { something_is_left_open = true; }

bool left_something_open() noexcept { return something_is_left_open; }

std::string take_library_causes() {
  std::vector<std::string> causes;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect_cause, &causes);
  H5Eclear2(H5E_DEFAULT);
  std::string text = "HDF5 failed";
  for (std::size_t i = 0; i < causes.size(); ++i) text += (i == 0 ? " (" : "; ") + causes[i];
  return causes.empty() ? "HDF5 gives no reason" : text + ")";
}

Error library_error(const std::string& problem, const std::string& causes,
                    const std::string& suggestion) {
  // Headers of objects have had the same two versions since HDF5 1.8.
  if (causes.find("object header version number") != std::string::npos)
    return Error(problem, "its object header is damaged",
                 "Copy the file again, or write it again: its writer may have been killed.");
  if (causes.find("version number") == std::string::npos) return Error(problem, causes, suggestion);
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return Error(problem,
               "its format needs a newer HDF5 than this one, " + std::to_string(major) + "." +
                   std::to_string(minor) + "." + std::to_string(release),
               "Use a newer one, or rewrite the file with h5repack --high=v110.");
}

void throw_library_error(const std::string& problem, const std::string& suggestion) {
  throw library_error(problem, take_library_causes(), suggestion);
}

std::string path_of(hid_t object, const std::string& problem) {
  return queried_name([&](char* text, std::size_t size) { return H5Iget_name(object, text, size); },
                      problem);
}

std::string stored_file_of(hid_t object, const std::string& problem) {
  return queried_name([&](char* text, std::size_t size) { return H5Fget_name(object, text, size); },
                      problem);
}

}  // namespace warpfold::io
