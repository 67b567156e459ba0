#include "io/output/characters.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "io/output/dataset_create.hpp"

namespace warpfold::io {
namespace {

TypeHandle text_type(std::size_t length, const std::string& problem) {
  TypeHandle type(require(H5Tcopy(H5T_C_S1), problem));
  require(H5Tset_size(type.get(), length), problem);
  require(H5Tset_strpad(type.get(), length == 1 ? H5T_STR_NULLTERM : H5T_STR_NULLPAD), problem);
  return type;
}

}  // namespace

bool is_text(hid_t type) { return H5Tget_class(type) == H5T_STRING; }

bool is_character(hid_t type) {
  return is_text(type) && H5Tis_variable_str(type) == 0 && H5Tget_size(type) == 1;
}

std::vector<std::string_view> views_of(const StoredValues& values) {
  const std::string_view bytes = values.text();
  const bool is_variable = H5Tis_variable_str(values.type()) > 0;
  const std::size_t size = is_variable ? sizeof(char*) : H5Tget_size(values.type());
  std::vector<std::string_view> views;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    if (!is_variable) {
      const std::string_view text = bytes.substr(at, size);
      views.push_back(text.substr(0, text.find('\0')));
      continue;
    }
    const char* text = nullptr;
    std::memcpy(&text, bytes.data() + at, sizeof(text));
    views.emplace_back(text != nullptr ? text : "");
  }
  return views;
}

StoredValues characters_of(const StoredValues& texts, const std::string& problem) {
  const std::vector<std::string_view> views = views_of(texts);
  std::size_t length = 1;
  for (const std::string_view text : views) length = std::max(length, text.size());
  std::vector<std::byte> bytes(views.size() * length);
  for (std::size_t i = 0; i < views.size(); ++i)
    std::ranges::copy(std::as_bytes(std::span(views[i])),
                      bytes.begin() + static_cast<std::ptrdiff_t>(i * length));
  return {text_type(1, problem), make_space({views.size(), length}, problem), std::move(bytes)};
}

StoredValues texts_of(const StoredValues& characters, const std::string& problem) {
  const std::vector<std::uint64_t> shape = extents_of(characters.space(), problem);
  const std::string_view text = characters.text();
  const auto bytes = std::as_bytes(std::span(text));
  return {text_type(shape.back(), problem),
          make_space({shape.front()}, problem),
          {bytes.begin(), bytes.end()}};
}

}  // namespace warpfold::io
