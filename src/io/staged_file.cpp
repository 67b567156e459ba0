#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "io/attributes.hpp"
#include "io/dataset_create.hpp"
#include "io/dataset_info.hpp"
#include "io/dataset_open.hpp"
#include "io/free_space.hpp"
#include "io/hdf5_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_scope.hpp"
#include "io/output.hpp"
#include "io/output_target.hpp"
#include "io/posix_file.hpp"
#include "io/temporary_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// A common stripe of parallel file systems, so that ranks do not share one.
constexpr Alignment stripe_alignment{hsize_t{1} << 20, hsize_t{4} << 20};

std::string cannot_write(const OutputSpec& spec) { return "cannot write '" + spec.path + "'"; }

/// Throws where the bytes cannot be counted in 63 bits.
std::uint64_t bytes_of(const OutputSpec& spec) {
  for (const std::uint64_t extent : spec.shape) {
    if (extent == 0) return 0;
  }
  std::uint64_t most = std::numeric_limits<std::int64_t>::max() / size_of(spec.format.type);
  std::uint64_t bytes = size_of(spec.format.type);
  for (const std::uint64_t extent : spec.shape) {
    if (extent > most) {
      throw usage_error(cannot_write(spec), "the shape has more bytes than 63 bits can count",
                        "Give a smaller shape.");
    }
    most /= extent;
    bytes *= extent;
  }
  return bytes;
}

void write_attributes(const OutputSpec& spec, hid_t dataset, const std::string& problem) {
  if (spec.attributes_from) {
    const auto& [file, name] = *spec.attributes_from;
    const FileHandle source_file = open_for_reading(file);
    const DatasetHandle source =
        open_dataset(source_file.get(), file, name, cannot_read(file, name));
    copy_attributes(source.get(), dataset, spec.text_attributes, problem);
  }
  add_text_attributes(dataset, spec.text_attributes, problem);
}

/// Makes the file with its dataset; returns where a contiguous dataset's bytes begin.
std::optional<std::uint64_t> write_file(const OutputSpec& spec, FileHandle file) {
  const std::string problem = cannot_write(spec);
  DatasetHandle dataset = create_dataset(file.get(), spec, problem);
  write_attributes(spec, dataset.get(), problem);
  std::optional<std::uint64_t> offset;
  if (spec.storage.chunk_shape.empty() && bytes_of(spec) > 0) {
    const haddr_t address = H5Dget_offset(dataset.get());
    if (address == HADDR_UNDEF) throw_library_error(problem);
    offset = address;
  }
  if (!dataset.close() || !file.close()) throw_library_error(problem);
  return offset;
}

void sync_file(const std::string& path, const std::string& problem) {
  const FileDescriptor descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!descriptor || ::fsync(descriptor.get()) != 0) {
    throw Error(problem, describe_errno(errno), "");
  }
}

}  // namespace

StagedFile::StagedFile(OutputSpec spec) : spec_(std::move(spec)) {
  require_valid_storage(spec_);
  require_writable_target(spec_);
  const std::string problem = cannot_write(spec_);
  const bool contiguous = spec_.storage.chunk_shape.empty();
  const std::uint64_t bytes = bytes_of(spec_);
  if (contiguous) require_free_space(folder_of(spec_.path), bytes, problem);

  remove_stale_temporaries(spec_.path);
  TemporaryFile temporary = create_temporary_beside(spec_.path, problem);
  const LibraryScope scope;
  try {
    data_offset_ = write_file(spec_, create_own(temporary.path, stripe_alignment));
    if (contiguous) reserve_storage(temporary.path, problem);
  } catch (...) {
    ::unlink(temporary.path.c_str());
    throw;
  }
  temporary_path_ = std::move(temporary.path);
  lock_ = std::move(temporary.lock);
}

StagedFile::~StagedFile() {
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : spec_(std::move(other.spec_)),
      temporary_path_(std::exchange(other.temporary_path_, {})),
      lock_(std::move(other.lock_)),
      data_offset_(other.data_offset_) {}

void StagedFile::commit() {
  sync_file(temporary_path_, cannot_write(spec_));
  publish(temporary_path_, spec_.path, spec_.force);
  temporary_path_.clear();
}

}  // namespace warpfold::io
