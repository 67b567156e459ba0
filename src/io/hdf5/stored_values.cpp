#include "io/hdf5/stored_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "io/files/posix_file.hpp"
#include "io/hdf5/whole_chunks.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr const char* cannot_convert = "cannot convert numbers";

constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 28;

constexpr const char* odd_attribute_advice = "Copy the input again, or delete the attribute.";

/// Bytes in memory of an attribute's values, those of variable length aside. HDF5 multiplies the
/// elements that a file claims without a check, but holds no more bytes than there are.
std::size_t bytes_of_values(hid_t attribute, const std::string& name, hid_t type, hid_t space,
                            const std::string& problem) {
  const auto elements =
      static_cast<std::uint64_t>(require(H5Sget_simple_extent_npoints(space), problem));
  const std::uint64_t stored = H5Aget_storage_size(attribute);
  const std::size_t element_bytes = H5Tget_size(type);
  if (elements > stored / element_bytes)
    throw Error(problem,
                "the input's attribute " + name + " has " + std::to_string(elements) +
                    " elements in " + std::to_string(stored) + " bytes",
                odd_attribute_advice);
  return elements * element_bytes;
}

/// Sums the bytes of what one element as it is stored, of file type `type`, has of variable length:
/// that is a count in four bytes, lowest first, and where in the file the bytes lie.
std::uint64_t variable_bytes_of(hid_t type, const unsigned char* element) {
  const H5T_class_t type_class = H5Tget_class(type);
  std::uint64_t bytes = 0;
  if (type_class == H5T_VLEN || (type_class == H5T_STRING && H5Tis_variable_str(type) > 0)) {
    for (unsigned i = 0; i < 4; ++i) bytes |= std::uint64_t{element[i]} << 8 * i;
    if (type_class == H5T_VLEN) bytes *= H5Tget_size(TypeHandle(H5Tget_super(type)).get());
  } else if (type_class == H5T_COMPOUND) {
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
      const auto member = static_cast<unsigned>(i);
      const TypeHandle member_type(H5Tget_member_type(type, member));
      bytes += variable_bytes_of(member_type.get(), element + H5Tget_member_offset(type, member));
    }
  } else if (type_class == H5T_ARRAY) {
    const TypeHandle item(H5Tget_super(type));
    const std::size_t item_bytes = H5Tget_size(item.get());
    const std::size_t items = item_bytes > 0 ? H5Tget_size(type) / item_bytes : 0;
    for (std::size_t i = 0; i < items; ++i)
      bytes += variable_bytes_of(item.get(), element + i * item_bytes);
  }
  return bytes;
}

/// Reads as elements of a type, into memory for them.
using Read = std::function<herr_t(hid_t type, void* values)>;

/// Reads values of a type of memory as the sum of their lengths, before HDF5 allocates memory for
/// them: by a conversion to opaque bytes, which HDF5 knows while this lives.
class VariableLengths {
 public:
  VariableLengths(hid_t type, const std::string& problem)
      : problem_(problem), opaque_(require(H5Tcreate(H5T_OPAQUE, 1), problem)) {
    require(H5Tregister(H5T_PERS_SOFT, name, type, opaque_.get(), add_up), problem);
  }
  ~VariableLengths() { H5Tunregister(H5T_PERS_SOFT, name, -1, -1, add_up); }
  VariableLengths(const VariableLengths&) = delete;
  VariableLengths& operator=(const VariableLengths&) = delete;

  std::uint64_t sum(const Read& read, std::size_t elements) const {
    sum_ = 0;
    std::vector<std::byte> unused(elements);
    require(read(opaque_.get(), unused.data()), problem_);
    return sum_;
  }

 private:
  static herr_t add_up(hid_t stored_type, hid_t, H5T_cdata_t* call, std::size_t count,
                       std::size_t stride, std::size_t, void* elements, void*, hid_t) {
    if (call->command == H5T_CONV_INIT) call->need_bkg = H5T_BKG_NO;
    if (call->command != H5T_CONV_CONV) return 0;
    const std::size_t step = stride != 0 ? stride : H5Tget_size(stored_type);
    const auto* element = static_cast<const unsigned char*>(elements);
    for (std::size_t i = 0; i < count; ++i)
      sum_ += variable_bytes_of(stored_type, element + i * step);
    return 0;
  }

  static constexpr const char* name = "warpfold variable lengths";
  static inline std::uint64_t sum_ = 0;  ///< a conversion is handed nothing else to add to

  const std::string& problem_;
  TypeHandle opaque_;
};

bool has_variable_lengths(hid_t type, const std::string& problem) {
  return require(H5Tdetect_class(type, H5T_STRING), problem) > 0 ||
         require(H5Tdetect_class(type, H5T_VLEN), problem) > 0;
}

/// Refuses what HDF5 would allocate gigabytes for, as it takes lengths from the file.
StoredValues read_values(const Read& read, const std::string& what, TypeHandle type,
                         SpaceHandle space, std::size_t size, const std::string& problem) {
  std::vector<std::byte> bytes(size);
  if (size > 0 && has_variable_lengths(type.get(), problem)) {
    const std::uint64_t more =
        VariableLengths(type.get(), problem).sum(read, size / H5Tget_size(type.get()));
    if (more > max_variable_bytes)
      throw Error(problem,
                  "the input's " + what + " has strings of " + std::to_string(more) +
                      " bytes, more than " + std::to_string(max_variable_bytes),
                  odd_attribute_advice);
  }
  if (size > 0) require(read(type.get(), bytes.data()), problem);
  return {std::move(type), std::move(space), std::move(bytes)};
}

}  // namespace

StoredValues::StoredValues(TypeHandle type, SpaceHandle space, std::vector<std::byte> bytes)
    : type_(std::move(type)), space_(std::move(space)), bytes_(std::move(bytes)) {}

StoredValues::~StoredValues() {
  if (bytes_.empty()) return;
  // HDF5 1.10 divides by zero where a space has as many dimensions as there can be.
  const auto elements = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space_.get()));
  const SpaceHandle line(H5Screate_simple(1, &elements, nullptr));
#if H5_VERSION_GE(1, 12, 0)
  H5Treclaim(type_.get(), line.get(), H5P_DEFAULT, bytes_.data());
#else
  H5Dvlen_reclaim(type_.get(), line.get(), H5P_DEFAULT, bytes_.data());
#endif
}

bool StoredValues::operator==(const StoredValues& other) const {
  if (H5Tequal(type(), other.type()) <= 0) return false;
  if (H5Sextent_equal(space(), other.space()) <= 0) return false;
  if (H5Tis_variable_str(type()) <= 0) return bytes_ == other.bytes_;
  for (std::size_t at = 0; at < bytes_.size(); at += sizeof(char*)) {
    const char* ours = nullptr;
    const char* theirs = nullptr;
    std::memcpy(&ours, data() + at, sizeof(ours));
    std::memcpy(&theirs, other.data() + at, sizeof(theirs));
    if (std::string_view(ours != nullptr ? ours : "") != (theirs != nullptr ? theirs : ""))
      return false;
  }
  return true;
}

StoredValues values_of_attribute(hid_t attribute, const std::string& name, hid_t type, hid_t space,
                                 const std::string& problem) {
  const auto read = [&](hid_t memory_type, void* values) {
    return H5Aread(attribute, memory_type, values);
  };
  return read_values(read, "attribute " + name, TypeHandle(require(H5Tcopy(type), problem)),
                     SpaceHandle(require(H5Scopy(space), problem)),
                     bytes_of_values(attribute, name, type, space, problem), problem);
}

StoredValues values_of_dataset(hid_t dataset, hid_t type, const Selection& part, SpaceHandle space,
                               const std::string& problem) {
  const auto elements =
      static_cast<std::size_t>(require(H5Sget_simple_extent_npoints(space.get()), problem));
  const SpaceHandle stored(require(H5Dget_space(dataset), problem));
  if (elements > 0) {
    select_part(stored.get(), part, problem);
    WholeChunks(dataset, problem).require_of(part);
  }
  const hid_t memory = space.get();
  const auto read = [&](hid_t memory_type, void* values) {
    return H5Dread(dataset, memory_type, memory, stored.get(), H5P_DEFAULT, values);
  };
  TypeHandle own(require(H5Tcopy(type), problem));
  const std::size_t size = elements * H5Tget_size(own.get());
  return read_values(read, "variable", std::move(own), std::move(space), size, problem);
}

bool holds(hid_t type, const std::vector<double>& numbers) {
  std::vector<double> converted(numbers);
  if (H5Tget_size(type) >= sizeof(double)) return true;
  for (const auto& [from, to] : {std::pair{H5T_NATIVE_DOUBLE, type}, {type, H5T_NATIVE_DOUBLE}})
    require(H5Tconvert(from, to, numbers.size(), converted.data(), nullptr, H5P_DEFAULT),
            cannot_convert);
  return converted == numbers;
}

StoredValues converted(std::span<const double> numbers, hid_t type,
                       const std::vector<std::uint64_t>& shape) {
  std::vector<std::byte> bytes(numbers.size() * std::max(sizeof(double), H5Tget_size(type)));
  std::copy_n(reinterpret_cast<const std::byte*>(numbers.data()), numbers.size_bytes(),
              bytes.begin());
  require(H5Tconvert(H5T_NATIVE_DOUBLE, type, numbers.size(), bytes.data(), nullptr, H5P_DEFAULT),
          cannot_convert);
  bytes.resize(numbers.size() * H5Tget_size(type));
  return {TypeHandle(require(H5Tcopy(type), cannot_convert)), make_space(shape, cannot_convert),
          std::move(bytes)};
}

std::vector<std::uint64_t> shape_of(hid_t dataset, const std::string& problem) {
  const SpaceHandle space(require(H5Dget_space(dataset), problem));
  const int rank = require(H5Sget_simple_extent_ndims(space.get()), problem);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  std::vector<hsize_t> maximum(extents.size());
  require(H5Sget_simple_extent_dims(space.get(), extents.data(), maximum.data()), problem);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] > maximum[d])
      throw Error(problem, "the file is damaged, as an extent exceeds its maximum", copy_again);
  }
  return {extents.begin(), extents.end()};
}

SpaceHandle make_space(const std::vector<std::uint64_t>& shape, const std::string& problem) {
  if (shape.empty()) return SpaceHandle(require(H5Screate(H5S_SCALAR), problem));
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return SpaceHandle(require(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), problem));
}

void select_part(hid_t space, const Selection& part, const std::string& problem) {
  if (part.empty()) return;
  std::vector<hsize_t> starts, steps, counts;
  for (const Slice& slice : part) {
    starts.push_back(slice.start);
    steps.push_back(slice.step);
    counts.push_back(slice.count);
  }
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, starts.data(), steps.data(), counts.data(),
                              nullptr),
          problem);
}

}  // namespace warpfold::io
