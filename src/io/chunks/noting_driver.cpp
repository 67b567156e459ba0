#include "io/chunks/noting_driver.hpp"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>

namespace warpfold::io {
namespace {

using Notes = NotingDriver::Notes;

/// Driver information in the file access properties.
struct DriverInfo {
  Notes* notes;
};

/// An open file as HDF5 knows it by its first member.
struct NotedFile {
  H5FD_t library_part = {};
  FileDescriptor descriptor;
  bool is_written = false;
  dev_t device = 0;
  ino_t inode = 0;
  haddr_t end = 0;  ///< the end that this process found or wrote
  haddr_t allocated = 0;
  Notes* notes = nullptr;
};
static_assert(std::is_standard_layout_v<NotedFile>);

NotedFile& noted(H5FD_t* file) { return *reinterpret_cast<NotedFile*>(file); }
const NotedFile& noted(const H5FD_t* file) { return *reinterpret_cast<const NotedFile*>(file); }

/// Leaves the reason of a failure, `error`, on HDF5's error stack; returns what a callback does.
herr_t fail(hid_t kind, int error) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, kind, "%s",
           describe_errno(error).c_str());
  return -1;
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
  const DriverInfo info{noted(file).notes};
  return copy_info(&info);
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
  int mode = O_RDONLY;
  if ((flags & H5F_ACC_RDWR) != 0) mode = O_RDWR | flags_to_share_pages(name);
  if ((flags & H5F_ACC_TRUNC) != 0) mode |= O_TRUNC;
  if ((flags & H5F_ACC_CREAT) != 0) mode |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0) mode |= O_EXCL;
  FileDescriptor descriptor(::open(name, mode | O_CLOEXEC, 0666));
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    fail(H5E_CANTOPENFILE, errno);
    return nullptr;
  }
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  auto* file = new (std::nothrow) NotedFile;
  if (file == nullptr) return nullptr;
  file->descriptor = std::move(descriptor);
  file->is_written = (flags & H5F_ACC_RDWR) != 0;
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->end = static_cast<haddr_t>(status.st_size);
  file->notes = info->notes;
  return &file->library_part;
}

herr_t close_file(H5FD_t* file) {
  delete &noted(file);
  return 0;
}

int compare_files(const H5FD_t* first, const H5FD_t* second) {
  const auto identity = [](const NotedFile& file) { return std::tie(file.device, file.inode); };
  const auto one = identity(noted(first));
  const auto other = identity(noted(second));
  return one < other ? -1 : one > other ? 1 : 0;
}

/// Returns those of HDF5's plain driver, on which the places of objects in new files depend, but
/// for what is of no use here. HDF5 also asks for them without a file.
herr_t query_features(const H5FD_t* file, unsigned long* features) {
  *features = H5FD_FEAT_ACCUMULATE_METADATA;
  if (file == nullptr || noted(file).is_written)
    *features |= H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                 H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  else
    *features |= H5FD_FEAT_SUPPORTS_SWMR_IO;
  return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t) { return noted(file).allocated; }

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  noted(file).allocated = address;
  return 0;
}

haddr_t file_end(const H5FD_t* file, H5FD_mem_t) { return noted(file).end; }

void note(Notes& notes, haddr_t address, std::size_t size) {
  notes.last = FileBytes{address, size};
  ++notes.count;
}

/// Bytes past the file's end are zero, as HDF5's own drivers have it.
herr_t read_bytes(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size,
                  void* buffer) {
  const NotedFile& from = noted(file);
  if (type == H5FD_MEM_DRAW && from.notes->skips_reads) {
    note(*from.notes, address, size);
    return 0;
  }
  const std::span out(static_cast<std::byte*>(buffer), size);
  const TransferResult result = read_at(from.descriptor.get(), address, out);
  if (result.error != 0) return fail(H5E_READERROR, result.error);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(result.bytes), out.end(), std::byte{0});
  return 0;
}

/// The buffer distinguishes a chunk from other raw data, as texts of variable length are, which
/// HDF5 writes whenever its cache of metadata is full.
herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size,
                   const void* buffer) {
  NotedFile& to = noted(file);
  if (buffer == to.notes->stand_in) {
    note(*to.notes, address, size);
    return 0;
  }
  const std::span bytes(static_cast<const std::byte*>(buffer), size);
  const TransferResult result = write_at(to.descriptor.get(), address, bytes);
  if (result.error != 0) return fail(H5E_WRITEERROR, result.error);
  to.end = std::max(to.end, address + size);
  return 0;
}

/// Ends the file where allocation does, wherever other processes wrote last: all that they write
/// lies before.
herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) {
  NotedFile& to = noted(file);
  struct stat status {};
  if (!to.is_written) return 0;
  if (::fstat(to.descriptor.get(), &status) != 0) return fail(H5E_SEEKERROR, errno);
  if (static_cast<haddr_t>(status.st_size) != to.allocated &&
      ::ftruncate(to.descriptor.get(), static_cast<off_t>(to.allocated)) != 0)
    return fail(H5E_SEEKERROR, errno);
  to.end = to.allocated;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
  // Numbers from 512 on are for tests and programs' own drivers.
  constexpr int own_number = 607;
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(own_number);
#endif
  driver.name = "warpfold noting driver";
  driver.maxaddr = std::numeric_limits<std::int64_t>::max();
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(DriverInfo);
  driver.fapl_get = info_of_file;
  driver.fapl_copy = copy_info;
  driver.fapl_free = free_info;
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query_features;
  driver.get_eoa = allocated_end;
  driver.set_eoa = set_allocated_end;
  driver.get_eof = file_end;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = truncate_file;
  // As the plain driver has it: metadata and raw data are allocated apart.
  constexpr H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kinds), std::end(kinds), std::begin(driver.fl_map));
  return driver;
}

}  // namespace

NotingDriver::NotingDriver(const std::string& problem) {
  const H5FD_class_t driver = driver_class();
  driver_ = Handle<H5FDunregister>(require(H5FDregister(&driver), problem));
}

void NotingDriver::set_in(hid_t access, const std::string& problem) {
  const DriverInfo info{&notes_};
  require(H5Pset_driver(access, driver_.get(), &info), problem);
}

}  // namespace warpfold::io
