#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "core/numeric/rounding.hpp"
#include "core/values/byte_order.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/output/coordinates.hpp"
#include "io/output/dataset_create.hpp"
#include "io/output/output.hpp"
#include "io/output/output_target.hpp"
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

std::vector<OutputDataset> datasets_of(const OutputSpec& spec) {
  std::vector<OutputDataset> datasets{spec};
  datasets.insert(datasets.end(), spec.others.begin(), spec.others.end());
  return datasets;
}

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
FileHandle copy_of_kept(const OutputSpec& spec, const std::string& temporary, Alignment alignment) {
  constexpr const char* advice = "Name the file alone to replace all of it.";
  try {
    const FileHandle kept = open_for_reading(spec.path);
    std::filesystem::copy_file(spec.path, temporary,
                               std::filesystem::copy_options::overwrite_existing);
    return open_own(temporary, alignment);
  } catch (const Error& failure) {
    throw Error(cannot_write(spec), "its datasets can't be kept: " + failure.why(), advice);
  } catch (const std::filesystem::filesystem_error& failure) {
    throw Error(cannot_write(spec), "its datasets can't be kept: " + failure.code().message(),
                advice);
  }
}

/// Writes what CF calls an audit trail, the newest line first; without times, so that the same
/// command makes the same file.
void write_history(const OutputSpec& spec, hid_t input, hid_t file, const std::string& problem) {
  std::string history = spec.history;
  std::string earlier = read_text_attribute(file, "history", problem).value_or("");
  if (earlier.empty() && spec.attributes_from)
    earlier = read_text_attribute(input, "history", problem).value_or("");
  if (!history.empty() && !earlier.empty()) history += '\n';
  history += earlier;
  if (history.empty()) return;
  const TextAttribute attribute{"history", history};
  if (require(H5Aexists(file, "history"), problem) > 0)
    require(H5Adelete(file, "history"), problem);
  add_text_attributes(file, {&attribute, 1}, problem);
}

void write_fill_value(const OutputDataset& wanted, hid_t dataset, const std::string& problem) {
  if (std::holds_alternative<std::monostate>(wanted.fill_value)) return;
  visit_element_type(wanted.format.type, [&](auto element) {
    using Element = decltype(element);
    if constexpr (is_floating_element<Element>)
      element = output_element<Element>(std::get<double>(wanted.fill_value));
    else
      element = static_cast<Element>(std::get<int128>(wanted.fill_value));
    if (wanted.format.order != native_byte_order) element = byte_swapped(element);
    add_fill_value(dataset, reinterpret_cast<const std::byte*>(&element), problem);
  });
}

/// Returns the dimensions that outputs have; a single one that is merged is about the same.
std::vector<std::size_t> dimensions_left(const OutputSpec& spec) {
  using Fate = CarriedDimension::Fate;
  std::vector<std::size_t> left, merged;
  for (std::size_t d = 0; d < spec.dimensions.size(); ++d) {
    if (spec.dimensions[d].is_left()) left.push_back(d);
    if (spec.dimensions[d].fate == Fate::merged && !spec.dimensions[d].selected.dropped)
      merged.push_back(d);
  }
  if (merged.size() == 1) return merged;
  return left;
}

/// The dataset that outputs are computed from, and what of its file they carry over.
struct Source {
  FileHandle file;
  DatasetHandle dataset;
  Coordinates coordinates;
};

Source open_source(const OutputSpec& spec) {
  Source source;
  if (!spec.attributes_from) return source;
  const auto& [path, name] = *spec.attributes_from;
  source.file = open_for_reading(path);
  if (!split_name(source.file.get(), name).member.empty()) return source;
  source.dataset = open_dataset(source.file.get(), path, name, cannot_read(path, name));
  source.coordinates = read_coordinates(source.dataset.get(), spec.dimensions);
  return source;
}

void write_attributes(const OutputSpec& spec, const OutputDataset& wanted, const Source& source,
                      hid_t dataset, const std::string& problem) {
  if (source.dataset && wanted.carries_attributes) {
    std::vector<std::string> left_out = wanted.dropped_attributes;
    for (const TextAttribute& attribute : spec.text_attributes) left_out.push_back(attribute.first);
    for (const auto& changed : wanted.changed_text) left_out.push_back(changed.first);
    if (!source.coordinates.empty())
      left_out.insert(left_out.end(), {coordinates_name, grid_mapping_name});
    copy_attributes(source.dataset.get(), dataset, left_out, dimensions_left(spec), problem);
  }
  std::vector<TextAttribute> changed;
  for (const auto& [name, text] : wanted.changed_text)
    if (text) changed.emplace_back(name, *text);
  add_text_attributes(dataset, changed, problem);
  write_fill_value(wanted, dataset, problem);
  attach_coordinates(source.coordinates, dataset, problem);
  add_text_attributes(dataset, spec.text_attributes, problem);
}

void write_coordinates(const OutputSpec& spec, Source& source, hid_t file,
                       const std::string& problem) {
  std::set<std::string> outputs;
  for (const OutputDataset& dataset : datasets_of(spec)) outputs.insert(dataset.dataset);
  const std::string group = spec.dataset.substr(0, spec.dataset.rfind('/') + 1);
  write_coordinates(source.coordinates, file, group, outputs, problem);
}

/// Makes the file with its datasets; returns where the bytes of contiguous ones begin.
std::vector<std::optional<std::uint64_t>> write_file(const OutputSpec& spec, FileHandle file) {
  const std::string problem = cannot_write(spec);
  Source source = open_source(spec);
  write_history(spec, source.file.get(), file.get(), problem);
  write_coordinates(spec, source, file.get(), problem);
  std::vector<std::optional<std::uint64_t>> offsets;
  for (const OutputDataset& wanted : datasets_of(spec)) {
    DatasetHandle dataset = create_dataset(file.get(), wanted, problem);
    write_attributes(spec, wanted, source, dataset.get(), problem);
    offsets.emplace_back();
    if (is_contiguous(wanted) && bytes_of(wanted, problem) > 0) {
      const haddr_t address = H5Dget_offset(dataset.get());
      if (address == HADDR_UNDEF) throw_library_error(problem);
      offsets.back() = address;
    }
    if (!dataset.close()) throw_library_error(problem);
  }
  if (!file.close()) throw_library_error(problem);
  return offsets;
}

void sync_file(const std::string& path, const std::string& problem) {
  const FileDescriptor descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!descriptor || ::fsync(descriptor.get()) != 0) {
    throw Error(problem, describe_errno(errno), "");
  }
}

}  // namespace

StagedFile::StagedFile(OutputSpec spec) : spec_(std::move(spec)) {
  for (const OutputDataset& dataset : datasets_of(spec_)) require_valid_storage(dataset);
  require_writable_target(spec_);
  const std::string problem = cannot_write(spec_);
  const std::uint64_t bytes = contiguous_bytes(spec_);
  if (spec_.keeps_others && std::filesystem::exists(spec_.path)) kept_ = version_of(spec_.path);
  const std::uint64_t kept_bytes = kept_ ? kept_->bytes : 0;
  if (bytes + kept_bytes > 0)
    require_free_space(folder_of(spec_.path), bytes + kept_bytes, problem);

  remove_stale_temporaries(spec_.path);
  TemporaryFile temporary = create_temporary_beside(spec_.path, problem);
  const LibraryScope scope;
  try {
    const Alignment alignment = alignment_for(bytes, 1 + spec_.others.size());
    data_offsets_ = write_file(spec_, kept_ ? copy_of_kept(spec_, temporary.path, alignment)
                                            : create_own(temporary.path, alignment));
    if (bytes > 0) reserve_storage(temporary.path, problem);
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
      kept_(other.kept_),
      lock_(std::move(other.lock_)),
      data_offsets_(std::move(other.data_offsets_)) {}

void StagedFile::commit() {
  if (kept_ && version_of(spec_.path) != *kept_)
    throw Error(cannot_write(spec_), "the datasets to be kept changed meanwhile", "Start again.");
  sync_file(temporary_path_, cannot_write(spec_));
  publish(temporary_path_, spec_.path, spec_.force);
  temporary_path_.clear();
}

}  // namespace warpfold::io
