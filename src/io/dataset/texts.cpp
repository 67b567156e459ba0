#include "io/dataset/texts.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/layout/hyperslab.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_open.hpp"
#include "io/dataset/dimensions.hpp"
#include "io/files/file_versions.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/source_files.hpp"
#include "io/hdf5/stored_values.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t elements_at_once = 1 << 16;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 27;

/// Returns whether another dataset has the last dimension of one of this shape: by its name, or
/// without names the same shape.
bool has_last_dimension(const DatasetInfo& other, const std::string& file, const std::string& name,
                        const std::vector<std::uint64_t>& shape) {
  if (shape.empty()) return false;
  const auto names = read_dimension_names(file, name);
  const auto of_other = read_dimension_names(other);
  if (names.size() != shape.size() || names.back().empty()) return other.stored_shape == shape;
  return std::ranges::any_of(of_other, [&](const std::vector<DimensionName>& dimension) {
    return std::ranges::any_of(dimension, [&](const DimensionName& each) {
      return std::ranges::find(names.back(), each.name, &DimensionName::name) != names.back().end();
    });
  });
}

/// An open dataset's texts as they are stored.
class StoredTexts {
 public:
  StoredTexts(const std::string& file, const std::string& name, const DatasetInfo* described)
      : problem_(cannot_read(file, name)),
        file_(open_for_reading(file)),
        dataset_(open_dataset(file_.get(), file, name, problem_)),
        type_(require(H5Dget_type(dataset_.get()), problem_)),
        bytes_(H5Tget_size(type_.get())) {
    if (!are_texts()) return;
    variable_ = H5Tis_variable_str(type_.get()) > 0;
    padding_ = H5Tget_strpad(type_.get());
    shape_ = shape_of(dataset_.get(), problem_);
    const SpaceHandle space(require(H5Dget_space(dataset()), problem_));
    elements_ = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space.get()));
    const bool are_flags =
        described != nullptr && bytes_ == 1 && has_last_dimension(*described, file, name, shape_);
    of_characters_ = !variable_ && bytes_ == 1 && shape_.size() > 1 && !are_flags;
    if (!of_characters_) return;
    bytes_ = shape_.back();
    shape_.pop_back();
  }

  bool are_texts() const { return H5Tget_class(type_.get()) == H5T_STRING; }

  hid_t dataset() const { return dataset_.get(); }

  /// Counts the stored elements, also those that are characters of a text.
  std::uint64_t elements() const { return elements_; }

  const std::vector<std::uint64_t>& shape() const { return shape_; }

  /// Calls use(text) for each text of a selection.
  template <class Use>
  void for_each(const Selection& selection, const Use& use) const {
    if (selection.empty()) return for_each_at_once(selection, use);
    const Slice rows = selection.front();
    const std::uint64_t of_row = product(counts_of(selection)) / rows.count;
    const std::uint64_t most_rows = std::max<std::uint64_t>(1, elements_at_once / of_row);
    Selection part = selection;
    for (std::uint64_t row = 0; row < rows.count; row += most_rows) {
      part.front() = {rows.start + row * rows.step, std::min(most_rows, rows.count - row),
                      rows.step};
      for_each_at_once(part, use);
    }
  }

 private:
  template <class Use>
  void for_each_at_once(Selection part, const Use& use) const {
    const std::uint64_t count = product(counts_of(part));
    if (of_characters_) part.push_back({0, bytes_});
    const StoredValues values = values_of_dataset(dataset(), type_.get(), part,
                                                  make_space(counts_of(part), problem_), problem_);
    for (std::uint64_t i = 0; i < count; ++i) use(text_at(values.data(), i));
  }

  std::string_view text_at(const std::byte* values, std::uint64_t i) const {
    if (variable_) {
      const char* text = nullptr;
      std::memcpy(&text, values + i * sizeof(text), sizeof(text));
      return without_padding(text != nullptr ? text : "");
    }
    const std::string_view text(reinterpret_cast<const char*>(values) + i * bytes_, bytes_);
    return without_padding(padding_ == H5T_STR_SPACEPAD ? text : text.substr(0, text.find('\0')));
  }

  /// Blanks and zeros behind a text pad it, whatever its type says.
  static std::string_view without_padding(std::string_view text) {
    return text.substr(0, text.find_last_not_of(std::string_view(" \0", 2)) + 1);
  }

  std::string problem_;
  FileHandle file_;
  DatasetHandle dataset_;
  TypeHandle type_;
  std::uint64_t bytes_;  ///< bytes of a text of fixed length
  bool variable_ = false;
  H5T_str_t padding_ = H5T_STR_NULLTERM;
  std::vector<std::uint64_t> shape_;
  std::uint64_t elements_ = 0;
  bool of_characters_ = false;
};

/// Numbers texts as they come, and then as they rise.
class TextNumbers {
 public:
  std::optional<std::uint32_t> operator()(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto [found, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(numbers_.size()));
    return found->second;
  }

  void put_in_order(Texts& texts) const {
    for (const auto& [text, number] : numbers_) texts.there.push_back(text);
    std::ranges::sort(texts.there);
    std::vector<std::uint32_t> in_order(texts.there.size());
    for (std::uint32_t i = 0; i < texts.there.size(); ++i)
      in_order[numbers_.at(texts.there[i])] = i;
    for (auto& number : texts.numbers)
      if (number) number = in_order[*number];
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

std::optional<Texts> read_texts(const std::string& file, const std::string& name,
                                const std::function<Selection(const DatasetInfo&)>& select,
                                const DatasetInfo* described) {
  const LibraryScope scope;
  const std::string problem = cannot_read(file, name);
  FileVersions versions{{file, version_of(file)}};
  const auto info = describe_texts(file, name, described);
  if (!info) return std::nullopt;
  // select() may read the same texts, too. HDF5 1.10 then crashes if it is asked for the fill value
  // of those that were open before.
  const Selection selection = select(*info);
  const StoredTexts stored(file, name, described);
  Texts texts;
  texts.files = source_files(stored.dataset(), info->stored_file, problem);
  texts.files.insert({file, info->stored_file});
  for (const std::string& each : texts.files) versions.try_emplace(each, version_of(each));
  texts.require_unchanged = make_require_unchanged(problem, info->stored_file, versions);
  texts.shape = selected_shape(selection);
  const std::uint64_t elements = info->elements == 0 ? 0 : product(texts.shape);
  if (elements > most_elements)
    throw Error(
        problem,
        "its texts are kept in memory, and there are more than " + std::to_string(most_elements),
        "Select a part of the dataset, or number the texts.");
  if (elements == 0) return texts;
  TextNumbers numbers;
  stored.for_each(selection,
                  [&](std::string_view text) { texts.numbers.push_back(numbers(text)); });
  numbers.put_in_order(texts);
  return texts;
}

std::optional<DatasetInfo> describe_texts(const std::string& file, const std::string& name,
                                          const DatasetInfo* described) {
  const LibraryScope scope;
  const StoredTexts stored(file, name, described);
  if (!stored.are_texts()) return std::nullopt;
  DatasetInfo info;
  info.file = file;
  info.stored_file = stored_file_of(stored.dataset(), cannot_read(file, name));
  info.name = name;
  info.stored_shape = stored.shape();
  info.elements = stored.elements();
  return info;
}

}  // namespace warpfold::io
