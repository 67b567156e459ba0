#include "io/dataset/compound_type.hpp"

#include <memory>
#include <utility>

namespace warpfold::io {
namespace {

constexpr const char* cannot_inspect_members = "cannot inspect a datatype";

bool is_compound(hid_t type) { return H5Tget_class(type) == H5T_COMPOUND; }

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

/// Returns the way to a member: its name behind those of the compounds that it is in; nothing where
/// there is no such member.
std::vector<Member> way_to(hid_t type, const std::string& member) {
  if (!is_compound(type)) return {};
  for (Member& each : members_of(type)) {
    std::vector<Member> way;
    if (each.name != member) {
      if (!member.starts_with(each.name + '.')) continue;
      way = way_to(each.type.get(), member.substr(each.name.size() + 1));
      if (way.empty()) continue;
    }
    way.insert(way.begin(), std::move(each));
    return way;
  }
  return {};
}

}  // namespace

std::vector<std::string> compound_members(hid_t compound) {
  std::vector<std::string> names;
  for (const Member& member : members_of(compound)) {
    if (!is_compound(member.type.get())) {
      names.push_back(member.name);
      continue;
    }
    for (const std::string& name : compound_members(member.type.get()))
      names.push_back(member.name + '.' + name);
  }
  return names;
}

TypeHandle compound_member_type(hid_t type, const std::string& member) {
  std::vector<Member> way = way_to(type, member);
  return way.empty() ? TypeHandle() : std::move(way.back().type);
}

TypeHandle make_compound_of_member(hid_t compound, const std::string& member, TypeHandle type) {
  constexpr const char* problem = "cannot make a datatype";
  const std::vector<Member> way = way_to(compound, member);
  for (auto each = way.rbegin(); each != way.rend(); ++each) {
    TypeHandle made(require(H5Tcreate(H5T_COMPOUND, H5Tget_size(type.get())), problem));
    require(H5Tinsert(made.get(), each->name.c_str(), 0, type.get()), problem);
    type = std::move(made);
  }
  return type;
}

}  // namespace warpfold::io
