#include "io/dataset/element_part.hpp"

#include <limits>
#include <memory>
#include <utility>

#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr const char* cannot_inspect_members = "cannot inspect a datatype";
constexpr const char* cannot_make_type = "cannot make a datatype";
constexpr const char* modulus_name = "abs";

/// A member of one compound, not of those in it.
struct Member {
  std::string name;
  TypeHandle type;
};

std::vector<Member> members_of(hid_t compound) {
  const int count = require(H5Tget_nmembers(compound), cannot_inspect_members);
  std::vector<Member> members;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    const std::unique_ptr<char, herr_t (*)(void*)> name(H5Tget_member_name(compound, i),
                                                        H5free_memory);
    members.push_back({name ? name.get() : "", TypeHandle(require(H5Tget_member_type(compound, i),
                                                                  cannot_inspect_members))});
  }
  return members;
}

TypeHandle base_of(hid_t type) {
  return TypeHandle(require(H5Tget_super(type), cannot_inspect_members));
}

/// Throws where a damaged file has arrays of other bytes than those of their numbers.
std::vector<std::uint64_t> extents_of_array(hid_t array, hid_t base) {
  const int rank = require(H5Tget_array_ndims(array), cannot_inspect_members);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  require(H5Tget_array_dims2(array, extents.data()), cannot_inspect_members);
  std::uint64_t bytes = H5Tget_size(base);
  for (const hsize_t extent : extents) {
    const bool is_possible =
        extent > 0 && bytes <= std::numeric_limits<std::uint32_t>::max() / extent;
    bytes = is_possible ? bytes * extent : 0;
    if (bytes == 0) break;
  }
  if (bytes == 0 || bytes != H5Tget_size(array))
    throw Error(cannot_inspect_members, "arrays do not have the bytes of their elements",
                copy_again);
  return {extents.begin(), extents.end()};
}

ElementPart within(TypeLayer layer, ElementPart part) {
  part.extents.insert(part.extents.begin(), layer.extents.begin(), layer.extents.end());
  part.layers.insert(part.layers.begin(), std::move(layer));
  return part;
}

/// Returns a part of complex numbers of which HDF5 reads both numbers.
ElementPart part_of_pair(TypeLayer pair, TypeHandle number, std::uint64_t first, bool modulus) {
  ElementPart part;
  part.type = std::move(number);
  part.role = modulus ? " (absolute value)" : first == 0 ? " (real part)" : " (imaginary part)";
  part.numbers = 2;
  part.first = first;
  part.modulus = modulus;
  return within(std::move(pair), std::move(part));
}

ElementPart part_of_compound(hid_t type, const std::string& member) {
  std::vector<Member> members = members_of(type);
  const bool complex = is_complex(type);
  if (complex && member == modulus_name)
    return part_of_pair({{}, {members[0].name, members[1].name}}, std::move(members[0].type), 0,
                        true);
  for (const Member& each : members) {
    const bool whole = each.name == member;
    if (!whole && !member.starts_with(each.name + '.')) continue;
    ElementPart part =
        element_part(each.type.get(), whole ? "" : member.substr(each.name.size() + 1));
    if (!part.type) continue;
    if (complex) part.role = &each == members.data() ? " (real part)" : " (imaginary part)";
    return within({{}, {each.name}}, std::move(part));
  }
  return {};
}

}  // namespace

TypeHandle ElementPart::memory_type(TypeHandle number) const {
  TypeHandle made = std::move(number);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const TypeHandle inner = std::move(made);
    if (!layer->extents.empty()) {
      const std::vector<hsize_t> dimensions(layer->extents.begin(), layer->extents.end());
      made =
          TypeHandle(require(H5Tarray_create2(inner.get(), static_cast<unsigned>(dimensions.size()),
                                              dimensions.data()),
                             cannot_make_type));
      continue;
    }
#if WARPFOLD_HDF5_HAS_COMPLEX
    if (layer->members.empty()) {
      made = TypeHandle(require(H5Tcomplex_create(inner.get()), cannot_make_type));
      continue;
    }
#endif
    const std::size_t bytes = H5Tget_size(inner.get());
    made = TypeHandle(
        require(H5Tcreate(H5T_COMPOUND, layer->members.size() * bytes), cannot_make_type));
    for (std::size_t i = 0; i < layer->members.size(); ++i)
      require(H5Tinsert(made.get(), layer->members[i].c_str(), i * bytes, inner.get()),
              cannot_make_type);
  }
  return made;
}

ElementPart element_part(hid_t type, const std::string& member) {
  switch (H5Tget_class(type)) {
    case H5T_ARRAY: {
      const TypeHandle base = base_of(type);
      ElementPart part = element_part(base.get(), member);
      return part.type ? within({extents_of_array(type, base.get()), {}}, std::move(part))
                       : ElementPart{};
    }
    case H5T_COMPOUND:
      if (!member.empty()) return part_of_compound(type, member);
      break;
#if WARPFOLD_HDF5_HAS_COMPLEX
    case H5T_COMPLEX:
      if (member == "r" || member == "i" || member == modulus_name)
        return part_of_pair({}, base_of(type), member == "i" ? 1 : 0, member == modulus_name);
      break;
#endif
    default:
      break;
  }
  ElementPart whole;
  if (member.empty()) whole.type = TypeHandle(require(H5Tcopy(type), cannot_inspect_members));
  return whole;
}

std::vector<std::string> element_members(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_ARRAY:
      return element_members(base_of(type).get());
    case H5T_COMPOUND: {
      std::vector<std::string> names;
      for (const Member& member : members_of(type))
        for (const std::string& name : element_members(member.type.get()))
          names.push_back(member.name + (name.empty() ? "" : '.' + name));
      return names;
    }
#if WARPFOLD_HDF5_HAS_COMPLEX
    case H5T_COMPLEX:
      return {"r", "i"};
#endif
    default:
      return {""};
  }
}

bool has_members(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class == H5T_ARRAY) return has_members(base_of(type).get());
  return type_class == H5T_COMPOUND || is_complex(type);
}

}  // namespace warpfold::io
