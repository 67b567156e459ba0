#include "io/chunks/address_recorder.hpp"

namespace warpfold::io {

AddressRecorder::AddressRecorder(const std::string& path, const std::string& problem)
    : driver_(problem) {
  const PropertiesHandle access(require(H5Pcreate(H5P_FILE_ACCESS), problem));
  driver_.set_in(access.get(), problem);
  file_ = FileHandle(require(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), problem));
}

}  // namespace warpfold::io
