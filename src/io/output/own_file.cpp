#include "io/output/own_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t least_stand_in = std::size_t{8} << 20;

}  // namespace

void OwnFile::create(const std::string& path, Alignment alignment) {
  const std::string problem = "cannot create '" + path + "'";
  const PropertiesHandle access = make_access(alignment, problem);
  const PropertiesHandle creation = make_group_creation(H5P_FILE_CREATE, problem);
  file_ = FileHandle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  if (!file_) throw_library_error(problem, "Check the folder and the free space in it.");
}

void OwnFile::open(const std::string& path, Alignment alignment) {
  const std::string problem = "cannot open '" + path + "'";
  const PropertiesHandle access = make_access(alignment, problem);
  file_ = FileHandle(require(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), problem));
}

PropertiesHandle OwnFile::make_access(Alignment alignment, const std::string& problem) {
  PropertiesHandle access = io::make_access();
  if (!driver_) driver_.emplace(problem);
  driver_->set_in(access.get(), problem);
  require(H5Pset_alignment(access.get(), alignment.threshold, alignment.boundary), problem);
  // The format of 1.8 is the oldest that can hold attributes of more than 64 KiB.
  require(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), problem);
  return access;
}

std::uint64_t OwnFile::allocate_chunk(hid_t dataset, const std::vector<hsize_t>& origin,
                                      const ChunkSize& size, const std::string& problem) {
  const void* const bytes = stand_in(size.bytes, problem);
  const auto notes =
      driver_->note({.skips_reads = false, .stand_in = bytes, .last = {}, .count = 0}, [&] {
        require(
            H5Dwrite_chunk(dataset, H5P_DEFAULT, static_cast<std::uint32_t>(size.skipped_filters),
                           origin.data(), size.bytes, bytes),
            problem);
      });
  if (notes.count != 1 || notes.last->count != size.bytes)
    throw Error(problem, "HDF5 does not write a chunk at once",
                "Write a contiguous output; h5repack can add chunks and filters.");
  return notes.last->address;
}

/// Memory that is never touched takes none; HDF5 would read zeros there.
const void* OwnFile::stand_in(std::size_t bytes, const std::string& problem) {
  if (stand_in_ && stand_in_.get_deleter().bytes >= bytes) return stand_in_.get();
  const std::size_t size = std::max(bytes, least_stand_in);
  void* const memory =
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Error(problem, describe_errno(errno), "");
  stand_in_ = std::unique_ptr<void, Unmap>(memory, Unmap{size});
  return memory;
}

void Unmap::operator()(void* memory) const noexcept { ::munmap(memory, bytes); }

}  // namespace warpfold::io
