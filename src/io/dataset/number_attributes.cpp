#include "io/dataset/number_attributes.hpp"

#include <cstddef>
#include <cstring>

#include "core/values/ordered_key.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr hssize_t max_numbers = 256;

/// An open dataset, for its attributes.
class OpenDataset {
 public:
  OpenDataset(const std::string& file, const std::string& name)
      : problem_(cannot_read(file, name)), file_(open_for_reading(file)) {
    const auto [path, member] = split_name(file_.get(), name);
    dataset_ = open_stored_dataset(file_.get(), file, path, problem_);
    is_member_ = !member.empty();
  }

  bool has(const std::string& name) const {
    return !is_member_ && require(H5Aexists(dataset_.get(), name.c_str()), problem_) > 0;
  }

  NumberAttribute numbers(const std::string& name) const {
    const AttributeHandle attribute(
        require(H5Aopen(dataset_.get(), name.c_str(), H5P_DEFAULT), problem_));
    const TypeHandle stored_type(require(H5Aget_type(attribute.get()), problem_));
    const SpaceHandle space(require(H5Aget_space(attribute.get()), problem_));
    const StoredType stored = describe_type(stored_type.get());
    const hssize_t count = require(H5Sget_simple_extent_npoints(space.get()), problem_);
    NumberAttribute numbers;
    if (!stored.format) {
      numbers.instead = "its type is " + stored.name;
      numbers.text = read_text_attribute(dataset_.get(), name, problem_).value_or("");
    } else if (count < 1) {
      numbers.instead = "it has no values";
    } else if (count > max_numbers) {
      numbers.instead = "it has " + std::to_string(count) + " values";
    } else {
      numbers.type = stored.format->type;
      numbers.values = values(attribute.get(), static_cast<std::size_t>(count), numbers.type);
    }
    return numbers;
  }

 private:
  std::vector<Value> values(hid_t attribute, std::size_t count, ElementType type) const {
    std::vector<std::byte> bytes(count * size_of(type));
    const TypeHandle native = make_type({type, native_byte_order});
    require(H5Aread(attribute, native.get(), bytes.data()), problem_);
    std::vector<Value> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(value_of(bytes.data() + i * size_of(type), type));
    return values;
  }

  static Value value_of(const std::byte* bytes, ElementType type) {
    return visit_element_type(type, [&](auto element) -> Value {
      std::memcpy(static_cast<void*>(&element), bytes, sizeof(element));
      if constexpr (is_floating_element<decltype(element)>)
        return widened(element);
      else
        return static_cast<int128>(element);
    });
  }

  std::string problem_;
  FileHandle file_;
  DatasetHandle dataset_;
  bool is_member_ = false;  ///< member of compound elements, to which attributes do not apply
};

}  // namespace

std::vector<std::optional<NumberAttribute>> read_number_attributes(
    const std::string& file, const std::string& dataset, std::span<const std::string> names) {
  const LibraryScope scope;
  const OpenDataset open(file, dataset);
  std::vector<std::optional<NumberAttribute>> attributes;
  for (const std::string& name : names)
    attributes.push_back(open.has(name) ? std::optional(open.numbers(name)) : std::nullopt);
  return attributes;
}

}  // namespace warpfold::io
