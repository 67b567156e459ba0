#include "io/dataset/library_dataset.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/text.hpp"
#include "core/layout/hyperslab.hpp"
#include "core/numeric/modulus.hpp"
#include "core/values/ordered_key.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/placeholder.hpp"
#include "io/files/byte_runs.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/stored_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t max_cache_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t slots_per_chunk = 100;
constexpr std::uint64_t max_slots = std::uint64_t{4} << 20;

bool is_prime(std::uint64_t number) {
  if (number < 2) return false;
  for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

std::uint64_t prime_from(std::uint64_t number) {
  while (!is_prime(number)) ++number;
  return number;
}

std::uint64_t chunks_of(const Slice& slice, std::uint64_t chunk_extent) {
  const std::uint64_t last = slice.start + (slice.count - 1) * slice.step;
  return std::min(slice.count, last / chunk_extent - slice.start / chunk_extent + 1);
}

/// Returns what of a part a file has elements of, whose extents are `written`, if not all.
Selection written_part(Selection part, std::span<const std::uint64_t> written) {
  for (std::size_t d = 0; d < written.size(); ++d)
    part[d].count = slice_within(part[d], {0, written[d]}).count;
  return part;
}

/// Puts the elements of a box, which are packed, where they belong among those of a greater one
/// that begins alike.
void put_box(std::span<const std::byte> packed, const Selection& box, std::span<std::byte> out,
             const Selection& greater, std::size_t element_bytes) {
  const std::size_t row_bytes = box.back().count * element_bytes;
  std::vector<std::uint64_t> index(box.size());
  for (std::size_t at = 0; at < packed.size(); at += row_bytes) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < box.size(); ++d) place = place * greater[d].count + index[d];
    std::ranges::copy(packed.subspan(at, row_bytes),
                      out.begin() + static_cast<std::ptrdiff_t>(place * element_bytes));
    for (std::size_t d = box.size() - 1; d-- > 0;) {
      if (++index[d] < box[d].count) break;
      index[d] = 0;
    }
  }
}

/// At most the number of elements, so that it can be counted.
std::uint64_t chunks_of(const Selection& part, std::span<const std::uint64_t> chunk_shape) {
  std::uint64_t chunks = 1;
  for (std::size_t d = 0; d < part.size(); ++d) chunks *= chunks_of(part[d], chunk_shape[d]);
  return chunks;
}

/// Returns how many of a slice's indices come into the first half: up to the middle one's chunk
/// where that begins behind the slice's first index.
std::uint64_t first_half(const Slice& slice, std::uint64_t chunk_extent) {
  const std::uint64_t half = slice.count / 2;
  const std::uint64_t chunk_begin = (slice.start + half * slice.step) / chunk_extent * chunk_extent;
  if (chunk_begin <= slice.start) return half;
  return (chunk_begin - slice.start + slice.step - 1) / slice.step;
}

void append_pieces(const Selection& part, std::span<const std::uint64_t> chunk_shape,
                   std::uint64_t max_chunks, std::vector<Selection>& pieces) {
  const auto divided = std::ranges::find_if(part, [](const Slice& s) { return s.count > 1; });
  if (divided == part.end() || chunks_of(part, chunk_shape) <= max_chunks) {
    pieces.push_back(part);
    return;
  }
  const auto d = static_cast<std::size_t>(divided - part.begin());
  const std::uint64_t count = first_half(part[d], chunk_shape[d]);
  Selection half = part;
  half[d].count = count;
  append_pieces(half, chunk_shape, max_chunks, pieces);
  half[d].start += count * half[d].step;
  half[d].count = part[d].count - count;
  append_pieces(half, chunk_shape, max_chunks, pieces);
}

/// Reads `part` of a dataset, which has a slice for each of its dimensions and at least an element;
/// the elements arrive packed. HDF5 moves equal shapes as rows, unequal ones element by element.
void read_elements(hid_t dataset, hid_t memory_type, const Selection& part,
                   std::span<std::byte> out, const std::string& problem) {
  const auto read = [&](hid_t memory_space, hid_t file_space) {
    require(H5Dread(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, out.data()),
            problem);
  };
  if (part.empty()) return read(H5S_ALL, H5S_ALL);
  const SpaceHandle file_space(require(H5Dget_space(dataset), problem));
  select_part(file_space.get(), part, problem);
  read(make_space(counts_of(part), problem).get(), file_space.get());
}

/// Returns the dataset access properties that ask for `cache`.
PropertiesHandle access_with(ChunkCache cache) {
  const char* problem = "cannot set up the chunk cache";
  // Chunks that were read or written in full leave first: they are not needed again.
  constexpr double full_chunks_leave_first = 1.0;
  PropertiesHandle access(require(H5Pcreate(H5P_DATASET_ACCESS), problem));
  require(H5Pset_chunk_cache(access.get(), cache.slots, cache.bytes, full_chunks_leave_first),
          problem);
  return access;
}

constexpr std::size_t max_members_listed = 10;

/// Bytes to read at a time of arrays that are not wanted whole; a single one may have more.
constexpr std::size_t max_record_bytes = 4 << 20;

/// For each chunk that one call reads of, HDF5 keeps some 6 KiB until it is done.
constexpr std::uint64_t max_chunks_at_once = 1 << 14;

/// Stored elements keep their type in memory, so that HDF5 converts nothing but what it has to.
TypeHandle memory_type_for(TypeHandle file_type, const StoredType& type) {
  return type.exact ? std::move(file_type) : make_type(type.format.value());
}

/// Returns what is to be read of stored elements, whole ones or a member of each.
ElementPart part_of_elements(hid_t stored, const std::string& member, const std::string& problem) {
  ElementPart part = element_part(stored, member);
  if (part.type) return part;
  throw Error(problem,
              "its elements have no member '" + member + "'; they have " +
                  enumerate(element_members(stored), max_members_listed),
              "Name a member as DATASET.MEMBER.");
}

/// Returns what to do about elements of a type that is not supported.
std::string advice_on(hid_t stored, hid_t part) {
  if (is_complex(part))
    return "Name a part of the numbers: DATASET." + joined(element_members(part), ", DATASET.") +
           " or DATASET.abs.";
  if (!has_members(stored)) return supported_types_advice();
  return "Name a member of numbers as DATASET.MEMBER; run 'warpfold info' to list them.";
}

/// Describes what is read of elements whose numbers are of a type.
StoredType type_read(const ElementPart& part, const StoredType& number,
                     const std::string& problem) {
  StoredType type = number;
  type.name += part.role;
  if (!part.modulus) return type;
  if (is_integer(number.format->type) && size_of(number.format->type) == 8)
    throw Error(problem, "absolute values are float64, which cannot hold all integers of 64 bits",
                "Name another part.");
  type.exact = false;
  type.format = ElementFormat{ElementType::f64, native_byte_order};
  return type;
}

/// Copies a part of an array in memory, packed.
void gather_part(std::span<const std::byte> array, std::span<const std::uint64_t> shape,
                 std::size_t element_bytes, const Selection& part, std::span<std::byte> out) {
  std::byte* to = out.data();
  PartLayout(0, shape, element_bytes, part).for_each([&](const ByteRuns& runs) {
    gather(runs, array.data() + runs.address, to);
    to += runs.bytes();
  });
}

/// Computes absolute values from pairs of native numbers.
void take_moduli(std::span<const std::byte> pairs, ElementType number, std::span<std::byte> out) {
  visit_element_type(number, [&](auto element) {
    std::array<decltype(element), 2> pair;
    for (std::size_t i = 0; i < out.size() / sizeof(double); ++i) {
      std::memcpy(static_cast<void*>(&pair), pairs.data() + i * sizeof(pair), sizeof(pair));
      const double modulus = rounded_modulus(widened(pair[0]), widened(pair[1]));
      std::memcpy(out.data() + i * sizeof(modulus), &modulus, sizeof(modulus));
    }
  });
}

/// HDF5 refuses to read such a dataset if its fill value is undefined.
bool has_no_storage(const DatasetInfo& info) {
  const bool allocates = info.layout == Layout::contiguous || info.layout == Layout::chunked;
  return allocates && info.stored_bytes == 0;
}

}  // namespace

ChunkCache chunk_cache_for(std::span<const std::uint64_t> shape,
                           std::span<const std::uint64_t> chunk_shape, std::size_t element_bytes) {
  std::uint64_t chunk_bytes = element_bytes;
  for (const std::uint64_t extent : chunk_shape) chunk_bytes *= extent;
  const std::uint64_t max_chunks = std::max<std::uint64_t>(1, max_cache_bytes / chunk_bytes);
  std::uint64_t chunks = 1;
  for (std::size_t d = 1; d < shape.size() && chunks < max_chunks; ++d) {
    const std::uint64_t along = shape[d] / chunk_shape[d] + (shape[d] % chunk_shape[d] != 0);
    chunks = std::min(max_chunks, chunks * std::min(along, max_chunks));
  }
  chunks = std::max<std::uint64_t>(1, chunks);
  return {static_cast<std::size_t>(chunks * chunk_bytes),
          static_cast<std::size_t>(prime_from(std::min(chunks * slots_per_chunk, max_slots)))};
}

std::vector<Selection> pieces_by_chunks(const Selection& part,
                                        std::span<const std::uint64_t> chunk_shape,
                                        std::uint64_t max_chunks) {
  std::vector<Selection> pieces;
  append_pieces(part, chunk_shape, max_chunks, pieces);
  return pieces;
}

LibraryDataset::LibraryDataset(const std::string& file, const std::string& name)
    : problem_(cannot_read(file, name)), file_(open_for_reading(file)) {
  const auto [dataset_name, member] = split_name(file_.get(), name);
  dataset_name_ = dataset_name;
  dataset_ = open_stored_dataset(file_.get(), file, dataset_name_, problem_);
  const TypeHandle file_type(require(H5Dget_type(dataset_.get()), problem_));
  stored_element_bytes_ = H5Tget_size(file_type.get());
  part_ = part_of_elements(file_type.get(), member, problem_);
  const StoredType number = describe_type(part_.type.get());
  if (!number.format)
    throw Error(problem_, unsupported_reason(number), advice_on(file_type.get(), part_.type.get()));
  number_type_ = number.format->type;
  const std::string odd = reason_against_placeholder(dataset_.get());
  if (!odd.empty()) throw Error(problem_, odd, "There is nothing to read.");
  const PropertiesHandle creation(require(H5Dget_create_plist(dataset_.get()), problem_));
  info_ = describe_dataset(dataset_.get(), creation.get(), type_read(part_, number, problem_),
                           part_, file, member.empty() ? dataset_name_ : name);
  memory_type_ = part_.memory_type(part_.modulus ? make_type({number_type_, native_byte_order})
                                                 : memory_type_for(std::move(part_.type), number));
  zero_first_ = may_leave_elements_unset(creation.get(), problem_);
}

std::set<std::string> LibraryDataset::files_passed() const {
  return io::files_passed(file_.get(), dataset_name_);
}

std::set<std::string> LibraryDataset::readable_sources() const {
  return source_files(dataset_.get(), info_.stored_file, problem_);
}

std::optional<StackedSources> LibraryDataset::stacked() const {
  if (!part_.layers.empty()) return std::nullopt;
  return stacked_sources(dataset_.get(), info_.stored_file, problem_);
}

void LibraryDataset::read(const Selection& part, std::span<std::byte> out) {
  const Selection written = written_part(part, info_.written_shape);
  if (written == part) return read_written(part, out);
  const std::size_t element_bytes = size_of(info_.format.type);
  const std::span element = std::span(info_.missing_element).first(element_bytes);
  for (std::size_t at = 0; at < out.size(); at += element_bytes)
    std::ranges::copy(element, out.begin() + static_cast<std::ptrdiff_t>(at));
  std::vector<std::byte> packed(product(counts_of(written)) * element_bytes);
  if (packed.empty()) return;
  read_written(written, packed);
  put_box(packed, written, out, part, element_bytes);
}

void LibraryDataset::read_written(const Selection& part, std::span<std::byte> out) {
  if (zero_first_) std::ranges::fill(out, std::byte{0});
  if (zero_first_ && has_no_storage(info_)) return;
  if (!whole_chunks_) open_for_elements();
  if (info_.layout != Layout::chunked) return read_at_once(part, out);
  for (const Selection& piece : pieces_by_chunks(part, info_.chunk_shape, max_chunks_at_once)) {
    std::size_t bytes = size_of(info_.format.type);
    for (const Slice& slice : piece) bytes *= slice.count;
    read_at_once(piece, out.first(bytes));
    out = out.subspan(bytes);
  }
}

void LibraryDataset::read_at_once(const Selection& part, std::span<std::byte> out) {
  const auto first_within = part.end() - static_cast<std::ptrdiff_t>(part_.extents.size());
  const Selection stored(part.begin(), first_within);
  const Selection within(first_within, part.end());
  whole_chunks_->require_of(stored);
  if (part_.numbers > 1 || !takes_everything(within, part_.extents))
    return read_records(stored, within, out);
  read_elements(dataset_.get(), memory_type_.get(), stored, out, problem_);
}

/// Reads what is wanted of the arrays or pairs that elements are; HDF5 reads these whole.
void LibraryDataset::read_records(const Selection& stored, const Selection& within,
                                  std::span<std::byte> out) {
  const std::size_t record_bytes = H5Tget_size(memory_type_.get());
  const std::uint64_t most = std::max<std::uint64_t>(1, max_record_bytes / record_bytes);
  const std::vector<std::uint64_t> single(stored.size(), 1);
  std::vector<std::uint64_t> shape{0};
  shape.insert(shape.end(), part_.extents.begin(), part_.extents.end());
  shape.push_back(part_.numbers);
  Selection taken{{0, 0}};
  taken.insert(taken.end(), within.begin(), within.end());
  taken.push_back({part_.first, part_.modulus ? part_.numbers : 1});
  std::vector<std::byte> pairs;
  for (const Selection& piece : pieces_by_chunks(stored, single, most)) {
    shape.front() = taken.front().count = product(counts_of(piece));
    if (piece != last_piece_) {
      last_piece_.reset();
      records_.assign(shape.front() * record_bytes, std::byte{0});
      read_elements(dataset_.get(), memory_type_.get(), piece, records_, problem_);
      last_piece_ = piece;
    }
    const std::uint64_t numbers = product(counts_of(taken));
    std::span there = out.first(numbers / taken.back().count * size_of(info_.format.type));
    out = out.subspan(there.size());
    if (part_.modulus) pairs.resize(numbers * size_of(number_type_));
    gather_part(records_, shape, size_of(number_type_), taken, part_.modulus ? pairs : there);
    if (part_.modulus) take_moduli(pairs, number_type_, there);
  }
}

/// Opens a chunked dataset again, as a cache's size counts only when it is opened for the first
/// time.
void LibraryDataset::open_for_elements() {
  if (info_.layout == Layout::chunked) {
    const std::size_t rank = info_.stored_shape.size() - part_.extents.size();
    const PropertiesHandle access = access_with(
        chunk_cache_for(std::span(info_.stored_shape).first(rank),
                        std::span(info_.chunk_shape).first(rank), stored_element_bytes_));
    guard_links(access.get());
    dataset_.close();
    dataset_ = DatasetHandle(
        require(H5Dopen2(file_.get(), dataset_name_.c_str(), access.get()), problem_));
  }
  whole_chunks_.emplace(dataset_.get(), problem_);
}

}  // namespace warpfold::io
