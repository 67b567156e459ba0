#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "io/dataset/dataset_open.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/output/dataset_create.hpp"
#include "io/output/output.hpp"
#include "io/output/output_description.hpp"
#include "io/output/output_target.hpp"
#include "io/output/own_file.hpp"
#include "io/output/replaced_datasets.hpp"
#include "io/output/temporary_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// Places datasets at multiples of a common stripe of parallel file systems, so that ranks do not
/// share one, but of a smaller power of two where the gaps would be more than 1/64 of all bytes.
Alignment alignment_for(std::uint64_t bytes, std::size_t datasets) {
  constexpr hsize_t page = 4096;
  Alignment alignment{hsize_t{1} << 20, hsize_t{4} << 20};
  while (alignment.boundary > page && alignment.boundary > bytes / (64 * datasets))
    alignment.boundary /= 2;
  return alignment;
}

std::string cannot_write(const OutputSpec& spec) { return "cannot write '" + spec.path + "'"; }

bool is_contiguous(const OutputDataset& dataset) { return dataset.storage.chunk_shape.empty(); }

/// Throws where the bytes cannot be counted in 63 bits.
std::uint64_t bytes_of(const OutputDataset& dataset, const std::string& problem) {
  if (std::find(dataset.shape.begin(), dataset.shape.end(), 0) != dataset.shape.end()) return 0;
  std::uint64_t maximum = std::numeric_limits<std::int64_t>::max() / size_of(dataset.format.type);
  std::uint64_t bytes = size_of(dataset.format.type);
  for (const std::uint64_t extent : dataset.shape) {
    if (extent > maximum) {
      throw usage_error(problem, "the shape has more bytes than 63 bits can count",
                        "Give a smaller shape.");
    }
    maximum /= extent;
    bytes *= extent;
  }
  return bytes;
}

/// Sums up all contiguous datasets; as many datasets of as many bytes as one may have are no
/// file any system holds.
std::uint64_t contiguous_bytes(const OutputSpec& spec) {
  std::uint64_t bytes = 0;
  for (const OutputDataset& dataset : datasets_of(spec)) {
    const std::uint64_t more = bytes_of(dataset, cannot_write(spec));
    if (!is_contiguous(dataset)) continue;
    bytes = more > std::numeric_limits<std::uint64_t>::max() - bytes
                ? std::numeric_limits<std::uint64_t>::max()
                : bytes + more;
  }
  return bytes;
}

/// Copies the file under the final name, and opens the copy. Nobody writes to it meanwhile.
void open_copy_of_kept(OwnFile& file, const OutputSpec& spec, const std::string& temporary,
                       Alignment alignment) {
  constexpr const char* advice = "To replace all of it, name it alone, with `force`.";
  try {
    const FileHandle kept = open_for_reading(spec.path);
    std::filesystem::copy_file(spec.path, temporary,
                               std::filesystem::copy_options::overwrite_existing);
    file.open(temporary, alignment);
  } catch (const Error& failure) {
    throw Error(cannot_write(spec), "its datasets cannot be kept (" + failure.why() + ")", advice);
  } catch (const std::filesystem::filesystem_error& failure) {
    throw Error(cannot_write(spec),
                "its datasets cannot be kept (" + describe_errno(failure.code().value()) + ")",
                advice);
  }
}

/// Throws where a file can't be what is wanted, whatever is in it.
void require_possible(const OutputSpec& spec) {
  for (const OutputDataset& dataset : datasets_of(spec)) require_valid_storage(dataset);
  require_writable_target(spec);
}

/// A name that no other tool gives.
std::string preliminary_name(std::size_t number) {
  return ".warpfold-staged-" + std::to_string(number);
}

}  // namespace

class StagedFile::Implementation {
 public:
  explicit Implementation(const OutputSpec& spec) : target_(spec) {
    if (spec.keeps_others && std::filesystem::exists(spec.path)) keep();
    remove_stale_temporaries(target_.path);
    temporary_ = create_temporary_beside(target_.path, cannot_write(target_));
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  ~Implementation() {
    const LibraryScope scope;
    staged_.clear();
    file_.close();
    if (!temporary_.path.empty()) ::unlink(temporary_.path.c_str());
  }

  const std::string& temporary_path() const { return temporary_.path; }

  void stage(OutputSpec spec) {
    const LibraryScope scope;
    drop();
    spec_ = std::move(spec);
    const std::string problem = cannot_write(spec_);
    const std::uint64_t bytes = contiguous_bytes(spec_);
    if (bytes > 0) require_free_space(folder_of(target_.path), bytes, problem);
    open(alignment_for(bytes, 1 + spec_.others.size()));
    for (const OutputDataset& dataset : datasets_of(spec_)) require_free_name(dataset.dataset);
    for (const OutputDataset& dataset : datasets_of(spec_))
      staged_.push_back(
          create_dataset(file_.get(), preliminary_name(staged_.size()), dataset, problem));
    // Other processes are to find all bytes of the file.
    require(H5Fflush(file_.get(), H5F_SCOPE_LOCAL), problem);
    if (bytes > 0) reserve_storage(temporary_.path, problem);
  }

  std::optional<std::uint64_t> data_offset(std::size_t number) const {
    const LibraryScope scope;
    const OutputDataset& dataset = spec_.dataset_at(number);
    if (!is_contiguous(dataset) || bytes_of(dataset, cannot_write(spec_)) == 0) return {};
    const haddr_t address = H5Dget_offset(staged_[number].get());
    if (address == HADDR_UNDEF) throw_library_error(cannot_write(spec_));
    return address;
  }

  std::uint64_t allocate_chunk(std::uint64_t number, const ChunkSize& size, std::size_t dataset) {
    const LibraryScope scope;
    return file_.allocate_chunk(staged_[dataset].get(),
                                origin_of_chunk(spec_.dataset_at(dataset), number), size,
                                cannot_write(spec_));
  }

  void finish() {
    const LibraryScope scope;
    const std::string problem = cannot_write(spec_);
    OutputSource source = open_source(spec_);
    if (written_.empty()) {
      write_origin(source, file_.get(), problem);
      write_history(spec_, source, file_.get(), problem);
    }
    const std::vector<OutputDataset> datasets = datasets_of(spec_);
    std::vector<std::string> paths;
    for (const OutputDataset& dataset : datasets) paths.push_back(dataset.dataset);
    remove_replaced(file_.get(), paths, problem);
    for (const std::string& name : write_coordinates(spec_, source, file_.get(), problem))
      written_.insert(without_leading_slashes(name));
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      give_name(file_.get(), preliminary_name(i), datasets[i].dataset, problem);
      written_.insert(without_leading_slashes(datasets[i].dataset));
      write_attributes(spec_, datasets[i], source, staged_[i].get(), problem);
    }
    for (DatasetHandle& dataset : staged_)
      if (!dataset.close()) throw_library_error(problem);
    staged_.clear();
  }

  void drop() {
    const LibraryScope scope;
    const std::size_t count = staged_.size();
    staged_.clear();
    // Datasets that finish() renamed have no preliminary names any more.
    for (std::size_t i = 0; i < count; ++i)
      if (H5Lexists(file_.get(), preliminary_name(i).c_str(), H5P_DEFAULT) > 0)
        H5Ldelete(file_.get(), preliminary_name(i).c_str(), H5P_DEFAULT);
  }

  void commit() {
    const LibraryScope scope;
    if (!staged_.empty()) finish();
    const std::string problem = cannot_write(target_);
    if (!file_.close()) throw_library_error(problem);
    // Open since the file was made, the descriptor reports all that could not be stored.
    if (::fsync(temporary_.lock.get()) != 0) throw Error(problem, describe_errno(errno), "");
    if (kept_ && version_of(target_.path) != *kept_)
      throw Error(problem, "the datasets to be kept have changed", "Start again.");
    publish(temporary_.path, target_.path, kept_ || (target_.force && !target_.keeps_others));
    temporary_.path.clear();
  }

 private:
  /// Prepares for a copy of what is there, also behind a link.
  void keep() {
    target_.path = std::filesystem::canonical(target_.path).string();
    kept_ = version_of(target_.path);
    require_free_space(folder_of(target_.path), kept_->bytes, cannot_write(target_));
  }

  /// Opens the file, for the first time or anew: objects are aligned as long as it is open.
  void open(Alignment alignment) {
    const bool is_new = !was_open_;
    if (!file_.close()) throw_library_error(cannot_write(target_));
    if (is_new && kept_)
      open_copy_of_kept(file_, target_, temporary_.path, alignment);
    else if (is_new)
      file_.create(temporary_.path, alignment);
    else
      file_.open(temporary_.path, alignment);
    was_open_ = true;
  }

  void require_free_name(const std::string& dataset) const {
    const std::string problem = cannot_write(target_);
    require_own_groups(file_.get(), dataset, problem);
    if (!is_there(file_.get(), dataset, problem)) return;
    if (!kept_ || written_.contains(without_leading_slashes(dataset)))
      throw usage_error(problem, "this run has two outputs or coordinates '" + dataset + "'",
                        "Write them to two files.");
    if (!target_.force)
      throw Error(problem, "it has '" + dataset + "' already",
                  "Give `force` to replace that, or the output another name.");
    require_removable(file_.get(), dataset, problem);
  }

  OutputSpec target_;  ///< the first one: tells of the file
  OutputSpec spec_;    ///< specification of the staged outputs
  TemporaryFile temporary_;
  std::optional<FileVersion> kept_;  ///< version of the existing file that was copied
  OwnFile file_;
  bool was_open_ = false;
  std::vector<DatasetHandle> staged_;  ///< under preliminary names until they are finished
  std::set<std::string> written_;      ///< paths of what was finished
};

StagedFile::StagedFile(OutputSpec spec) {
  require_possible(spec);
  implementation_ = std::make_unique<Implementation>(spec);
  implementation_->stage(std::move(spec));
}

StagedFile::~StagedFile() = default;

StagedFile::StagedFile(StagedFile&& other) noexcept = default;

void StagedFile::stage(OutputSpec spec) {
  require_possible(spec);
  implementation_->stage(std::move(spec));
}

const std::string& StagedFile::temporary_path() const { return implementation_->temporary_path(); }

std::optional<std::uint64_t> StagedFile::data_offset(std::size_t dataset) const {
  return implementation_->data_offset(dataset);
}

std::uint64_t StagedFile::allocate_chunk(std::uint64_t number, const ChunkSize& size,
                                         std::size_t dataset) {
  return implementation_->allocate_chunk(number, size, dataset);
}

void StagedFile::finish() { implementation_->finish(); }

void StagedFile::drop() { implementation_->drop(); }

void StagedFile::commit() { implementation_->commit(); }

}  // namespace warpfold::io
