#include "io/hdf5/hdf5_scope.hpp"

namespace warpfold::io {
namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

LibraryScope::LibraryScope() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryScope::~LibraryScope() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

}  // namespace warpfold::io
