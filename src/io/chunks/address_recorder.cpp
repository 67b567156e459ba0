#include "io/chunks/address_recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {
namespace {

/// Driver information in the file access properties.
struct DriverInfo {
  AddressRecorder::Recording* recording;
};

/// An open file as HDF5 knows it by its first member.
struct RecordedFile {
  H5FD_t library_part = {};
  FileDescriptor descriptor;
  haddr_t size = 0;
  haddr_t allocated = 0;
  AddressRecorder::Recording* recording = nullptr;
};
static_assert(std::is_standard_layout_v<RecordedFile>);

RecordedFile& recorded(H5FD_t* file) { return *reinterpret_cast<RecordedFile*>(file); }
const RecordedFile& recorded(const H5FD_t* file) {
  return *reinterpret_cast<const RecordedFile*>(file);
}

void* copy_info(const void* info) {
  return new (std::nothrow) DriverInfo(*static_cast<const DriverInfo*>(info));
}

herr_t free_info(void* info) {
  delete static_cast<DriverInfo*>(info);
  return 0;
}

/// HDF5 asks for it where an external link leads to another file, to open that alike.
void* info_of_file(H5FD_t* file) {
  const DriverInfo info{recorded(file).recording};
  return copy_info(&info);
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  FileDescriptor descriptor(::open(name, O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) return nullptr;
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  auto* file = new (std::nothrow) RecordedFile;
  if (file == nullptr) return nullptr;
  file->descriptor = std::move(descriptor);
  file->size = static_cast<haddr_t>(status.st_size);
  file->recording = info->recording;
  return &file->library_part;
}

herr_t close_file(H5FD_t* file) {
  delete &recorded(file);
  return 0;
}

herr_t query_features(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_SUPPORTS_SWMR_IO;
  return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t) { return recorded(file).allocated; }

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  recorded(file).allocated = address;
  return 0;
}

haddr_t file_end(const H5FD_t* file, H5FD_mem_t) { return recorded(file).size; }

/// Bytes past the file's end are zero, as HDF5's own drivers have it.
herr_t read_bytes(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size,
                  void* buffer) {
  const RecordedFile& from = recorded(file);
  if (type == H5FD_MEM_DRAW && from.recording->armed) {
    from.recording->seen = FileBytes{address, size};
    return 0;
  }
  const std::span out(static_cast<std::byte*>(buffer), size);
  const TransferResult result = read_at(from.descriptor.get(), address, out);
  if (result.error != 0) return -1;
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(result.bytes), out.end(), std::byte{0});
  return 0;
}

herr_t refuse_to_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  driver.name = "warpfold address recorder";
  driver.maxaddr = std::numeric_limits<std::int64_t>::max();
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(DriverInfo);
  driver.fapl_get = info_of_file;
  driver.fapl_copy = copy_info;
  driver.fapl_free = free_info;
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query_features;
  driver.get_eoa = allocated_end;
  driver.set_eoa = set_allocated_end;
  driver.get_eof = file_end;
  driver.read = read_bytes;
  driver.write = refuse_to_write;
  std::fill(std::begin(driver.fl_map), std::end(driver.fl_map), H5FD_MEM_SUPER);
  return driver;
}

}  // namespace

AddressRecorder::AddressRecorder(const std::string& path, const std::string& problem) {
  const H5FD_class_t driver = driver_class();
  driver_ = Handle<H5FDunregister>(require(H5FDregister(&driver), problem));
  const PropertiesHandle access(require(H5Pcreate(H5P_FILE_ACCESS), problem));
  const DriverInfo info{&recording_};
  require(H5Pset_driver(access.get(), driver_.get(), &info), problem);
  file_ = FileHandle(require(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), problem));
}

}  // namespace warpfold::io
