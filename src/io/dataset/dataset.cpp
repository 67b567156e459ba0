#include "io/dataset/dataset.hpp"

#include <algorithm>
#include <utility>

#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_parts.hpp"
#include "io/dataset/library_dataset.hpp"
#include "io/files/byte_runs.hpp"
#include "io/files/kept_open.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

/// For each the library keeps a row of chunks in memory.
constexpr std::size_t most_open_in_library = 4;

}  // namespace

class Dataset::Implementation {
 public:
  Implementation(const std::string& file, const std::string& name, ReadPath path)
      : problem_(cannot_read(file, name)),
        versions_{{file, version_of(file)}},
        library_(std::in_place, file, name),
        info_(library_->info()) {
    if (info_.stored_file != file) versions_ = {{info_.stored_file, version_of(info_.stored_file)}};
    const bool may_be_in_parts =
        info_.layout == Layout::virtual_ && info_.elements > 0 && path != ReadPath::library;
    if (may_be_in_parts) take_stacked_sources();
    if (info_.stored_file != file) info_.link_files = library_->files_passed();
    take_path(info_, path, problem_);
    if (info_.path == ReadPath::library && !may_be_in_parts) take_sources();
    if (reads_directly()) bytes_.emplace(info_.stored_file, problem_);
  }

  Implementation(const std::vector<std::string>& files, const std::string& name,
                 const JoinedDimension& dimension, ReadPath path,
                 const std::function<Packing(const DatasetInfo&)>& packing_of)
      : problem_(cannot_read(files.front(), name)) {
    std::vector<DatasetInfo> infos;
    std::vector<Packing> packings;
    std::vector<std::uint64_t> extents;
    for (const std::string& file : files) {
      const OpenFile kept(file);
      Implementation one(file, name, path);
      packings.push_back(packing_of(one.info()));
      versions_.merge(one.versions_);
      const std::vector<std::uint64_t>& shape = one.info().stored_shape;
      if (dimension.is_new())
        extents.push_back(1);
      else if (dimension.number < shape.size())
        extents.push_back(shape[dimension.number]);
      infos.push_back(std::move(one.info_));
    }
    info_ = concatenated(std::move(infos), dimension, packings);
    info_.files = files;
    info_.concatenated_along = dimension.number;
    info_.new_dimension = dimension.new_name;
    info_.file_extents = std::move(extents);
    take_path(info_, path, problem_);
    open_parts();
  }

  explicit Implementation(const DatasetInfo& known) : problem_(known.problem), info_(known) {
    open_parts();
    for (const std::string& file : stored_files(info_)) versions_.emplace(file, version_of(file));
    if (reads_directly()) bytes_.emplace(info_.stored_file, problem_);
    if (is_whole() && info_.path == ReadPath::library) open_library();
  }

  const DatasetInfo& info() const { return info_; }

  void take_as_unsigned() { io::take_as_unsigned(info_); }

  void add_note(const std::string& text) {
    if (!text.empty()) info_.notes.push_back(text);
  }

  void select(const Selection& selection) { take_selection(info_, selection); }

  void need(std::size_t dimension, std::span<const std::uint64_t> words) {
    if (info_.layout != Layout::chunked) return;
    const ChunkGrid grid =
        unmerged_grid(info_.stored_shape, info_.chunk_shape, selection_of(info_));
    const int d = static_cast<int>(dimension);
    NeededChunks needed{1, std::vector<bool>(grid.chunks_along(d))};
    for (int inner = d + 1; inner < grid.dimensions; ++inner)
      needed.stride *= grid.chunks_along(inner);
    for (std::uint64_t i = 0; i < grid.selected_along(d); ++i)
      if ((words[i / 64] >> i % 64 & 1) != 0)
        needed.along[grid.index_of(d, i) / grid.chunk_extent[d]] = true;
    info_.needed.push_back(std::move(needed));
  }

  void read(ElementRange range, std::span<std::byte> out) {
    require_inside(range);
    require_fitting(range.count, out.size());
    if (range.count == 0) return;
    if (!bytes_ && !open_parts_) return read_by_library(range, out);
    if (const auto address = address_of_run(range)) return bytes_->read(*address, out);
    for_each_part(range, out, [this](const Selection& part, std::span<std::byte> there) {
      read_stored(part, there);
    });
  }

  void read(const Hyperslab& box, std::span<std::byte> out) {
    require_inside(box);
    require_fitting(box.elements(), out.size());
    if (!out.empty()) read_stored(part_of_box(info_, box), out);
  }

  void choose_cache(FileCache cache) {
    if (!bytes_ || info_.elements == 0) return;
    // Past the cache, elements keep the alignment that they have in the file.
    const bool aligned = *info_.file_offset % element_bytes() == 0;
    const FileBytes selected = layout_of(selection_of(info_)).span();
    bytes_->choose_cache(aligned ? cache : FileCache::through, selected.address, selected.count);
  }

  bool may_read_past_cache() const { return bytes_ && bytes_->may_go_past(); }

  std::span<std::byte> fetch(ElementRange range, std::span<std::byte> buffer) {
    const std::uint64_t bytes = range.count * element_bytes();
    if (bytes_ && range.count > 0 && buffer.size() >= bytes + fetch_slack) {
      require_inside(range);
      if (const auto address = address_of_run(range)) return bytes_->fetch(*address, bytes, buffer);
    }
    read(range, buffer.first(bytes));
    return buffer.first(bytes);
  }

  std::span<std::byte> fetch(const Hyperslab& box, std::span<std::byte> buffer) {
    const std::uint64_t bytes = box.elements() * element_bytes();
    if (bytes_ && bytes > 0 && buffer.size() >= bytes + fetch_slack) {
      require_inside(box);
      const PartLayout layout = layout_of(part_of_box(info_, box));
      if (layout.run_bytes() == bytes) return bytes_->fetch(layout.span().address, bytes, buffer);
    }
    read(box, buffer.first(bytes));
    return buffer.first(bytes);
  }

  const FileVersions& file_versions() const { return versions_; }

  std::function<void()> make_require_unchanged() const {
    return io::make_require_unchanged(problem_, info_.stored_file, versions_);
  }

 private:
  bool reads_directly() const {
    return info_.path == ReadPath::direct && info_.file_offset.has_value();
  }

  void open_library() {
    library_.emplace(info_.file, info_.name);
    take_sources();
  }

  void take_sources() {
    info_.source_files = library_->readable_sources();
    for (const std::string& source : info_.source_files)
      versions_.emplace(source, version_of(source));
  }

  /// Reads the sources of a virtual dataset in its place where these lie one behind another and the
  /// library is not needed for them.
  void take_stacked_sources() {
    take_sources();
    const std::optional<StackedSources> stacked = library_->stacked();
    if (!stacked) return;
    try {
      take_parts(*stacked);
    } catch (const Error&) {
      // The library converts types that aren't supported, so they don't matter then.
    }
  }

  void take_parts(const StackedSources& stacked) {
    std::vector<DatasetInfo> infos;
    for (const auto& [file, name, shape] : stacked.sources) {
      Implementation one(file, name, ReadPath::automatic);
      DatasetInfo& info = infos.emplace_back(std::move(one.info_));
      if (info.path == ReadPath::library || info.format != info_.format ||
          info.stored_shape != shape)
        return;
      versions_.merge(one.versions_);
      info.problem = problem_ + ", of which '" + file + "' has a part";
      info.stored_type = info_.stored_type;
      info.marked_unsigned = info_.marked_unsigned;
    }
    DatasetInfo whole = concatenated(std::move(infos), {stacked.dimension});
    if (whole.path == ReadPath::library) return;
    whole.file = info_.file;
    whole.name = info_.name;
    whole.problem = info_.problem;
    whole.stored_file = info_.stored_file;
    info_ = std::move(whole);
    open_parts();
  }

  std::size_t element_bytes() const { return size_of(info_.format.type); }

  /// Lays out a part where bytes are read directly.
  PartLayout layout_of(const Selection& part) const {
    return {info_.file_offset.value(), info_.stored_shape, element_bytes(), part};
  }

  /// Returns where a range begins in the file, if its elements follow one another there and bytes
  /// are read directly.
  std::optional<std::uint64_t> address_of_run(ElementRange range) const {
    if (!bytes_) return std::nullopt;
    if (info_.selection.empty()) return info_.file_offset.value() + range.first * element_bytes();
    const std::uint64_t run_elements = layout_of(info_.selection).run_bytes() / element_bytes();
    if (range.first / run_elements != (range.end() - 1) / run_elements) return std::nullopt;
    Selection first = info_.selection;
    std::uint64_t index = range.first;
    for (std::size_t d = first.size(); d-- > 0;) {
      first[d].start += index % first[d].count * first[d].step;
      index /= first[d].count;
      first[d].count = 1;
    }
    return layout_of(first).span().address;
  }

  /// Calls read(part, its share of `out`) for parts of the stored elements that make up a range.
  template <class Read>
  void for_each_part(ElementRange range, std::span<std::byte> out, Read&& read) const {
    const Selection selection = selection_of(info_);
    for (const Hyperslab& slab : hyperslabs_of(counts_of(selection), range)) {
      const std::uint64_t bytes = slab.elements() * element_bytes();
      read(part_of(selection, slab), out.first(bytes));
      out = out.subspan(bytes);
    }
  }

  void require_inside(ElementRange range) const {
    if (range.first > info_.elements || range.count > info_.elements - range.first) {
      throw Error(problem_,
                  "elements " + std::to_string(range.first) + " to " + std::to_string(range.end()) +
                      " are requested, but it has " + std::to_string(info_.elements),
                  "");
    }
  }

  void require_inside(const Hyperslab& box) const {
    bool inside = box.start.size() == info_.shape.size() && box.count.size() == info_.shape.size();
    for (std::size_t d = 0; inside && d < info_.shape.size(); ++d)
      inside = box.start[d] <= info_.shape[d] && box.count[d] <= info_.shape[d] - box.start[d];
    if (!inside) throw Error(problem_, "a box beyond its shape is requested", "");
  }

  void require_fitting(std::uint64_t elements, std::size_t buffer_bytes) const {
    if (buffer_bytes != elements * element_bytes()) {
      throw Error(problem_,
                  "the buffer of " + std::to_string(buffer_bytes) + " bytes does not fit " +
                      std::to_string(elements) + " elements",
                  "");
    }
  }

  /// Reads stored elements, some.
  void read_stored(const Selection& part, std::span<std::byte> out) {
    if (bytes_) return read_part(*bytes_, layout_of(part), out);
    if (open_parts_) return read_of_parts(part, out);
    const LibraryScope scope;
    library().read(part, out);
  }

  /// Reads parts side by side into `out`, in rows of the dimensions before theirs.
  void read_of_parts(const Selection& selection, std::span<std::byte> out) {
    const std::size_t dimension = info_.parts->dimension;
    std::uint64_t rows = 1;
    for (std::size_t d = 0; d < dimension; ++d) rows *= selection[d].count;
    const std::uint64_t row_bytes = out.size() / rows;
    const std::uint64_t index_bytes = row_bytes / selection[dimension].count;
    std::vector<std::byte> packed;
    for (const PartSelection& each : parts_of(*info_.parts, selection)) {
      const std::uint64_t begin = each.before * index_bytes;
      const std::uint64_t bytes = each.count * index_bytes;
      if (rows == 1) {
        read_of_part(each, out.subspan(begin, bytes));
        continue;
      }
      packed.resize(rows * bytes);
      read_of_part(each, packed);
      for (std::uint64_t row = 0; row < rows; ++row)
        std::ranges::copy(std::span(packed).subspan(row * bytes, bytes),
                          out.subspan(row * row_bytes + begin).begin());
    }
  }

  void read_of_part(const PartSelection& each, std::span<std::byte> out) {
    const auto part = open_parts_->get(each.part);
    if (!is_unpacked(info_)) return part->read_stored(each.selection, out);
    std::vector<std::byte> stored(out.size() / element_bytes() * part->element_bytes());
    part->read_stored(each.selection, stored);
    info_.parts->unpack(each.part, stored, out);
  }

  bool is_whole() const { return !info_.parts && info_.files.empty(); }

  void open_parts() {
    if (!info_.parts) return;
    open_parts_.emplace(info_.path == ReadPath::library ? most_open_in_library : most_files_open(),
                        [parts = info_.parts](std::size_t part) {
                          const LibraryScope scope;
                          return std::make_shared<Implementation>(parts->infos[part]);
                        });
  }

  LibraryDataset& library() {
    if (!library_) open_library();
    return *library_;
  }

  /// Reads in transfers of at most 1 GiB.
  void read_by_library(ElementRange range, std::span<std::byte> out) {
    const LibraryScope scope;
    if (info_.stored_shape.empty()) return library().read({}, out);
    const std::uint64_t max_elements = largest_transfer / element_bytes();
    for (std::uint64_t first = range.first; first < range.end(); first += max_elements) {
      const std::uint64_t count = std::min(max_elements, range.end() - first);
      for_each_part({first, count},
                    out.subspan((first - range.first) * element_bytes(), count * element_bytes()),
                    [this](const Selection& part, std::span<std::byte> there) {
                      library().read(part, there);
                    });
    }
  }

  std::string problem_;
  /// Versions of the files that are read, by path, from before the elements were looked for.
  FileVersions versions_;
  std::optional<LibraryDataset> library_;
  DatasetInfo info_;
  std::optional<ByteReader> bytes_;  ///< if elements are read directly
  std::optional<KeptOpen<Implementation>> open_parts_;
};

Dataset::Dataset(const std::string& file, const std::string& name, ReadPath path) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(file, name, path);
}

Dataset::Dataset(const std::vector<std::string>& files, const std::string& name,
                 const JoinedDimension& dimension, ReadPath path,
                 const std::function<Packing(const DatasetInfo&)>& packing_of) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(files, name, dimension, path, packing_of);
}

Dataset::Dataset(const DatasetInfo& known) {
  const LibraryScope scope;
  implementation_ = std::make_unique<Implementation>(known);
}

Dataset::~Dataset() {
  if (!implementation_) return;
  const LibraryScope scope;
  implementation_.reset();
}

Dataset::Dataset(Dataset&& other) noexcept = default;

Dataset& Dataset::operator=(Dataset&& other) noexcept {
  std::swap(implementation_, other.implementation_);
  return *this;
}

const DatasetInfo& Dataset::info() const { return implementation_->info(); }

void Dataset::read(ElementRange range, std::span<std::byte> out) {
  implementation_->read(range, out);
}

void Dataset::take_as_unsigned() { implementation_->take_as_unsigned(); }

void Dataset::add_note(const std::string& text) { implementation_->add_note(text); }

void Dataset::select(const Selection& selection) { implementation_->select(selection); }

void Dataset::need(std::size_t dimension, std::span<const std::uint64_t> words) {
  implementation_->need(dimension, words);
}

void Dataset::choose_cache(FileCache cache) { implementation_->choose_cache(cache); }

bool Dataset::may_read_past_cache() const { return implementation_->may_read_past_cache(); }

std::span<std::byte> Dataset::fetch(ElementRange range, std::span<std::byte> buffer) {
  return implementation_->fetch(range, buffer);
}

std::span<std::byte> Dataset::fetch(const Hyperslab& box, std::span<std::byte> buffer) {
  return implementation_->fetch(box, buffer);
}

const FileVersions& Dataset::file_versions() const { return implementation_->file_versions(); }

std::function<void()> Dataset::make_require_unchanged() const {
  return implementation_->make_require_unchanged();
}

}  // namespace warpfold::io
